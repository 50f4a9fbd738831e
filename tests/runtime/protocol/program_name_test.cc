#include "runtime/protocol/program_name.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

TEST(ProgramName, TextStaysAsItIs) {
  EXPECT_EQ(printable("a b-c.1"), "a b-c.1");
  EXPECT_EQ(printable("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(printable(""), "");
}

// Each is replaced by one of these.
std::string replacements(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "\xef\xbf\xbd";
  return text;
}

TEST(ProgramName, ControlsAreReplaced) {
  EXPECT_EQ(printable("a\nb\x1b[31m"), "a" + replacements(1) + "b" + replacements(1) + "[31m");
  EXPECT_EQ(printable("\x7f"), replacements(1));
  EXPECT_EQ(printable("\xc2\x9b"), replacements(1)) << "a control in two bytes";
}

TEST(ProgramName, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(printable("h\xff"), "h" + replacements(1));
  EXPECT_EQ(printable("\xc3"), replacements(1)) << "cut off";
  EXPECT_EQ(printable("\xc3("), replacements(1) + "(");
  EXPECT_EQ(printable("\xc0\xaf"), replacements(2)) << "not the shortest form";
  EXPECT_EQ(printable("\xe0\x80\x80"), replacements(3));
  EXPECT_EQ(printable("\xed\xa0\x80"), replacements(3)) << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), replacements(4)) << "beyond the last character";
}

TEST(ProgramName, ANameMayFillItsField) {
  Hello hello;
  std::fill(std::begin(hello.name), std::end(hello.name), 'x');
  EXPECT_EQ(program_name(hello), std::string(sizeof hello.name, 'x'));
}

}  // namespace
}  // namespace wm::runtime
