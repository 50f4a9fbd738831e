// The house rules hold in this tree, and each check is seen to fail on a small tree that breaks it.
#include "structure/house.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wm::structure {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A tree of files made for one test.
class Tree {
 public:
  Tree() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / (std::string("wm-house-") + test->test_suite_name() + test->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Tree() { fs::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void file(const std::string& path, const std::string& content) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
  }
  [[nodiscard]] const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

TEST(House, RoomsIncludeOnlyLowerFloors) { EXPECT_THAT(wrong_includes(WM_SOURCE_DIR), IsEmpty()); }
TEST(House, EveryRoomAndBenchmarkSaysWhatItIs) { EXPECT_THAT(folders_without_readme(WM_SOURCE_DIR), IsEmpty()); }
TEST(House, EveryHeaderIsGuarded) { EXPECT_THAT(unguarded_headers(WM_SOURCE_DIR), IsEmpty()); }
TEST(House, NoFileIsTooLong) { EXPECT_THAT(long_files(WM_SOURCE_DIR), IsEmpty()); }
TEST(House, NoFileSpeaksOfAMachineOrOfWorkUndone) { EXPECT_THAT(forbidden_words(WM_SOURCE_DIR), IsEmpty()); }

TEST(HouseRules, ARoomMayUseLowerFloorsAndItself) {
  const Tree tree;
  tree.file("src/exec/a.cc",
            "#include \"ptx/ir.h\"\n#include \"base/result.h\"\n#include \"exec/b.h\"\n#include <x>\n");
  tree.file("src/cli/a.cc", "#include \"kernels/benchmark.h\"\n#include \"exec/b.h\"\n");
  tree.file("kernels/bfs/bfs.cc", "#include \"kernels/benchmark.h\"\n#include \"gpu/application.h\"\n");
  EXPECT_THAT(wrong_includes(tree.root()), IsEmpty());
}

TEST(HouseRules, ARoomAboveIsAnOffence) {
  const Tree tree;
  tree.file("src/base/a.h", "#pragma once\n#include \"gpu/application.h\"\n");
  EXPECT_THAT(wrong_includes(tree.root()), ElementsAre("src/base/a.h:2: base (floor 0) includes gpu (floor 1)"));
}

TEST(HouseRules, ARoomBesideIsAnOffence) {
  const Tree tree;
  tree.file("src/ptx/deep/a.cc", "\n\n  #  include \"gpu/application.h\"\n");
  EXPECT_THAT(wrong_includes(tree.root()), ElementsAre("src/ptx/deep/a.cc:3: ptx (floor 1) includes gpu (floor 1)"));
}

TEST(HouseRules, TheZooUsesBaseAndGpuOnly) {
  const Tree tree;
  tree.file("kernels/bfs/bfs.cc", "#include \"exec/run.h\"\n");
  tree.file("src/exec/a.cc", "#include \"kernels/benchmark.h\"\n");
  EXPECT_THAT(wrong_includes(tree.root()), ElementsAre("src/exec/a.cc:1: exec (floor 2) includes the zoo",
                                                       "kernels/bfs/bfs.cc:1: the zoo includes exec"));
}

TEST(HouseRules, AClimbingPathAndARoomWithoutAFloorAreOffences) {
  const Tree tree;
  tree.file("src/attic/a.cc", "\n");
  tree.file("src/ptx/a.cc", "#include \"../gpu/application.h\"\n");
  EXPECT_THAT(wrong_includes(tree.root()),
              ElementsAre("src/attic: a room with no floor",
                          "src/ptx/a.cc:1: includes by a path that climbs: ../gpu/application.h"));
}

TEST(HouseRules, AFolderOwesAReadme) {
  const Tree tree;
  tree.file("src/ptx/a.h", "#pragma once\n");
  tree.file("kernels/opencl/README.md", std::string(61, '\n'));
  tree.file("kernels/bfs/bfs.cl", "// One level of a search.\n");
  tree.file("kernels/bfs/bfs.cc", "#include <vector>\n");
  EXPECT_THAT(folders_without_readme(tree.root()),
              ElementsAre("src/ptx: no README.md", "kernels/bfs/bfs.cc: does not say what it is",
                          "kernels/opencl/README.md: longer than a page"));
}

TEST(HouseRules, HeadersAndLengths) {
  const Tree tree;
  tree.file("src/ptx/a.h", "int x;\n");
  tree.file("src/ptx/b.cc", std::string(500, '\n'));
  tree.file("src/ptx/c.cc", std::string(499, '\n'));
  EXPECT_THAT(unguarded_headers(tree.root()), ElementsAre("src/ptx/a.h: no #pragma once"));
  EXPECT_THAT(long_files(tree.root()), ElementsAre("src/ptx/b.cc: 500 lines"));
}

TEST(HouseRules, ForbiddenWordsAreFoundInEveryKindOfText) {
  const Tree tree;
  tree.file("docs/a.md", std::string("fine\nsee /wo") + "rk/main\n");
  tree.file("src/ptx/a.cc", std::string("// TO") + "DO later\n");
  tree.file("wm", "mkdir build/work\n");
  EXPECT_THAT(forbidden_words(tree.root()), ElementsAre(std::string("docs/a.md:2: says '/wo") + "rk/'",
                                                        std::string("src/ptx/a.cc:1: says 'TO") + "DO'"));
}

}  // namespace
}  // namespace wm::structure
