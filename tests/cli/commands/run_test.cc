// wm run beside a daemon that goes away.
#include <gtest/gtest.h>

#ifdef WM_RUNTIME

#include "cli/shell.h"

namespace wm::cli {
namespace {

TEST(WmRun, SaysThatTheDaemonHasGone) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  const Scratch scratch;
  const std::string socket = scratch.path("socket"), log = scratch.path("log");
  const Ran ran =
      shell(WM_BINARY_DIR "/bin/wm serve --socket " + socket + " > " + log + " & daemon=$!; until grep -q listening " +
            log + "; do kill -0 $daemon || exit 9; sleep 0.05; done; " WM_BINARY_DIR "/bin/wm run --socket " + socket +
            " -- sh -c \"kill -9 $daemon\"");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("the daemon at " + socket + " is gone"), std::string::npos) << ran.err;
}

TEST(WmRun, WithoutADaemonIsOneLine) {
  const Ran ran = run_wm("run --socket /nowhere/at/all -- true");
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("/nowhere/at/all"), std::string::npos);
}

TEST(WmServe, RefusesAShortLaunchThatIsNoNumber) {
  const std::string socket = " --socket /nowhere/at/all";
  for (const char* wrong : {"some", "-1", "1000001", "3.5"}) {
    const Ran option = run_wm("serve" + socket + " --short=" + wrong);
    EXPECT_EQ(option.code, 2) << wrong;
    EXPECT_NE(option.err.find(std::string("--short '") + wrong + "' is no number"), std::string::npos) << option.err;
    const Ran variable = shell("WARPMUX_SHORT=" + std::string(wrong) + " " WM_BINARY_DIR "/bin/wm serve" + socket);
    EXPECT_EQ(variable.code, 2) << wrong;
    EXPECT_NE(variable.err.find("WARPMUX_SHORT '"), std::string::npos) << variable.err;
  }
}

// What the daemon prints before it listens, with the given arguments.
std::string printed_by_serve(const std::string& arguments) {
  const Scratch scratch;
  const std::string log = scratch.path("log");
  return shell(WM_BINARY_DIR "/bin/wm serve --socket " + scratch.path("socket") + " " + arguments + " > " + log +
               " & daemon=$!; until grep -q listening " + log +
               "; do kill -0 $daemon || exit 9; sleep 0.05; done; kill $daemon; wait $daemon; cat " + log)
      .out;
}

TEST(WmServe, AccelosDividesEveryLaunchUnlessAskedOtherwise) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  const std::string rule = "admission rule short-launches";
  EXPECT_EQ(printed_by_serve("--policy accelos").find(rule), std::string::npos);
  EXPECT_NE(printed_by_serve("--policy accelos --short 100").find(rule), std::string::npos);
  EXPECT_NE(printed_by_serve("--policy moving_shares").find(rule), std::string::npos);
}

}  // namespace
}  // namespace wm::cli
#endif
