// No class exceeds the limits and no files include each other in a cycle, except for those of exceptions.txt.
#include "structure/class_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "structure/layers.h"
#include "structure/temporary_tree.h"
#include "tree.h"

namespace wm::structure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The number of exceptions. It may only be lowered, when a line of exceptions.txt is removed.
constexpr int kExceptions = 6;

TEST(SourceTree, ExceptionsBecomeFewer) {
  int exceptions = 0;
  for_each_line(source_path("tests/structure/exceptions.txt"), [&](int, std::string_view line) {
    if (!line.empty() && !line.starts_with('#')) ++exceptions;
  });
  EXPECT_EQ(exceptions, kExceptions) << "an exception that is added is a violation; lower the number for one removed";
}

TEST(SourceTree, LargeClassesAndIncludeCyclesAreExceptions) {
  std::vector<std::string> found = large_classes(source_path());
  for (const std::string& cycle : include_cycles(source_path())) found.push_back(cycle);
  EXPECT_THAT(unexpected(found, source_path("tests/structure/exceptions.txt")), IsEmpty());
}

std::string fields(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "  int f" + std::to_string(i) + ";\n";
  return text;
}

TEST(LargeClasses, FieldsBeyondTheLimitAreListed) {
  const TemporaryTree tree;
  tree.file("src/lab/a.h", "class A {\n" + fields(26) + "};\nclass B {\n" + fields(25) + "};\n");
  EXPECT_THAT(large_classes(tree.root()), ElementsAre("fields src/lab/a.h A 26"));
}

TEST(LargeClasses, SourcesOfAClassAreCounted) {
  const TemporaryTree tree;
  tree.file("src/lab/a.h", "class A { void f(); struct In { void g(); }; };");
  tree.file("src/sim/a.h", "class A { void f(); };");
  for (const char* name : {"a", "b", "c"}) tree.file(std::string("src/lab/") + name + ".cc", "void A::f() {}\n");
  tree.file("src/lab/d.cc", "void A::In::g() {}\n");
  tree.file("src/sim/a.cc", "void A::f() {}\n");
  EXPECT_THAT(large_classes(tree.root()), ElementsAre("sources src/lab/a.h A 3"));
}

TEST(LargeClasses, ExceptionsMayOnlyShrink) {
  const TemporaryTree tree;
  tree.file("exceptions.txt",
            "# comment\nfields a.h A 30\nfields a.h B 30\nfields a.h C 30\nsources a.h A 4\ncycle x y\n");
  EXPECT_THAT(unexpected({"fields a.h A 30", "fields a.h B 31", "fields a.h C 29", "fields a.h D 26", "cycle x y"},
                         tree.root() / "exceptions.txt"),
              ElementsAre("fields a.h B 31: has grown from 30", "fields a.h C 29: is smaller than its exception, 30",
                          "fields a.h D 26: too large, or an include cycle",
                          "sources a.h A: the exception is not needed any more"));
}

}  // namespace
}  // namespace wm::structure
