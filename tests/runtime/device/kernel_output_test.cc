// Standard output while a kernel prints, and programs that call printf.
#include "runtime/device/kernel_output.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <unistd.h>

namespace wm::runtime {
namespace {

TEST(KernelOutput, CatchesWhatIsWrittenBetweenBeginAndEnd) {
  testing::internal::CaptureStdout();
  std::printf("before ");
  KernelOutput output;
  EXPECT_EQ(output.end(), "") << "nothing was begun";
  for (const std::string text : {"first", "", "second and longer"}) {
    output.begin();
    std::printf("%s", text.c_str());
    EXPECT_EQ(output.end(), text);
    std::printf("between ");
  }
  output.begin();
  EXPECT_EQ(::write(STDOUT_FILENO, "a", 1), 1);
  const int copy = ::dup(STDOUT_FILENO);  // as a thread of the driver
  EXPECT_EQ(::write(copy, "b", 1), 1);
  EXPECT_EQ(::write(STDOUT_FILENO, "c", 1), 1);
  ::close(copy);
  EXPECT_EQ(output.end(), "abc");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "before between between between ");
}

TEST(KernelOutput, LeavesNoDescriptorOpen) {
  const auto next_descriptor = [] {
    const int descriptor = ::dup(STDIN_FILENO);
    ::close(descriptor);
    return descriptor;
  };
  const int before = next_descriptor();
  {
    KernelOutput output;
    output.begin();
    output.end();
    EXPECT_EQ(next_descriptor(), before) << "also while it is kept";
  }
}

TEST(KernelOutput, ProgramsCallPrintfOutsideOfComments) {
  const std::pair<const char*, bool> rows[] = {{"printf", true},
                                               {"printf(\"x\")", true},
                                               {"kernel void k() { printf(\"%d\", 1); }", true},
                                               {"-DP=printf", true},
                                               {"", false},
                                               {"p", false},
                                               {"my_printf(1)", false},
                                               {"printf2(1)", false},
                                               {"print f", false},
                                               {"// printf", false},
                                               {"// printf\nprintf", true},
                                               {"/* printf */", false},
                                               {"/* printf", false},
                                               {"/*/ printf */", false},
                                               {"/**/printf", true},
                                               {"a / printf", true},
                                               {"/printf", true}};
  for (const auto& [text, calls] : rows) EXPECT_EQ(calls_printf(text), calls) << text;
}

}  // namespace
}  // namespace wm::runtime
