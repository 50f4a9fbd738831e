// wm run beside a daemon that goes away.
#include <algorithm>
#include <gtest/gtest.h>

#ifdef WM_RUNTIME

#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

TEST(WmRun, SaysThatTheDaemonHasGone) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  const Scratch scratch;
  const std::string socket = scratch.path("socket"), log = scratch.path("log");
  const Ran ran =
      shell(binary_path("bin/wm serve --socket ") + socket + " > " + log + " & daemon=$!; until grep -q listening " +
            log + "; do kill -0 $daemon || exit 9; sleep 0.05; done; " + binary_path("bin/wm run --socket ") + socket +
            " -- sh -c \"kill -9 $daemon\"");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("the daemon at " + socket + " is gone"), std::string::npos) << ran.err;
}

// A daemon, and `wm run` started at once, without waiting for the daemon's socket.
std::string with_new_daemon(const Scratch& scratch, const std::string& command) {
  const std::string wm = binary_path("bin/wm ");
  const std::string socket = " --socket " + scratch.path("socket");
  return wm + "serve" + socket + " > " + scratch.path("log") + " & daemon=$!; trap 'kill $daemon; wait' EXIT; " + wm +
         "run" + socket + " " + command;
}

TEST(WmRun, RefusesOptionsOfASimulatedGpuBeforeTheProgramStarts) {
  const std::vector<std::string> mistakes{
      "--simulate ''",
      "--simulate h200 --goal garbage",
      "--simulate h200 --timing block --policy quota",
      "--simulate h200 --timing cycle --from-launch x",
      "--simulate h200 --timing cycle --from-launch 5-2",
      "--simulate h200 --timing cycle --from-launch 1-",
      "--simulate h200 --timing cycle --from-launch=-1",
  };
  for (const std::string& mistake : mistakes) {
    const Ran ran = run_wm("run " + mistake + " -- echo started");
    EXPECT_EQ(ran.code, 2) << mistake << ran.err;
    EXPECT_EQ(ran.out, "") << mistake;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << mistake << ran.err;
  }
}

TEST(WmServe, LogsRequestsForTheStatusAtLevelDebugOnly) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  for (const std::string level : {"debug", "info"}) {
    const Scratch scratch;
    const std::string socket = " --socket " + scratch.path("socket"), log = scratch.path("log");
    const Ran ran = shell(binary_path("bin/wm serve --log-level ") + level + socket + " > " + log +
                          " 2>&1 & daemon=$!; " + binary_path("bin/wm run --wait 60") + socket +
                          " -- true; kill $daemon; wait $daemon; grep -c " + "status_requested.*user= " + log);
    EXPECT_EQ(ran.out, level == "debug" ? "2\n" : "0\n") << ran.err;
  }
}

TEST(WmRun, WaitsForTheSocketOfADaemonThatWasJustStarted) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  const Scratch scratch;
  const Ran ran = shell(with_new_daemon(scratch, "--wait 60 -- echo it ran"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "it ran\n");
}

TEST(WmRun, ForwardsSignalsAndLeavesNoOrphan) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  for (const char* signal : {"TERM", "INT", "HUP", "KILL"}) {
    const Scratch scratch;
    // A shell ignores SIGINT in background jobs, which exec would inherit; env restores the default action.
    const std::string pid = scratch.path("pid");
    const Ran ran = shell(with_new_daemon(
        scratch, "--wait 60 -- env --default-signal sh -c 'echo $$ > " + pid +
                     "; exec sleep 60' & run=$!; until test -s " + pid + "; do sleep 0.05; done; kill -" + signal +
                     " $run; wait $run; echo code $?; for i in $(seq 100); do "
                     "kill -0 $(cat " +
                     pid + ") 2> /dev/null || { echo gone; break; }; sleep 0.05; done"));
    EXPECT_NE(ran.out.find("gone"), std::string::npos) << signal << ran.out << ran.err;
    const std::string code = signal == std::string("TERM")  ? "143"
                             : signal == std::string("INT") ? "130"
                             : signal == std::string("HUP") ? "129"
                                                            : "137";
    EXPECT_NE(ran.out.find("code " + code), std::string::npos) << signal << ran.out << ran.err;
  }
}

// The processes that the program started in the background end, too; a process of the surrounding script does not.
TEST(WmRun, ForwardsSignalsToTheProcessesOfTheProgram) {
  for (const char* signal : {"TERM", "HUP", "QUIT"}) {
    const Scratch scratch;
    const std::string pids = scratch.path("pids"), all_signals = "env --default-signal ";
    const Ran ran =
        shell("sleep 60 & other=$!; " + binary_path("bin/wm") + " run --simulate v100 -- " + all_signals + "sh -c '" +
              all_signals + "sleep 60 & echo $! $$ > " + pids + "; sleep 60; true' & run=$!; " + "until test -s " +
              pids + "; do sleep 0.05; done; kill -" + signal + " $run; wait $run; " + "for p in $(cat " + pids +
              "); do for i in $(seq 100); do grep -qs 'State:.[^Z]' /proc/$p/status || " +
              "{ echo gone; break; }; sleep 0.05; done; done; kill $other && echo other lives");
    EXPECT_EQ(ran.out, "gone\ngone\nother lives\n") << signal << ran.err;
  }
}

// Background jobs of a shell ignore SIGINT; they end with the program that was interrupted.
TEST(WmRun, AnInterruptedProgramLeavesNoBackgroundJob) {
  const Scratch scratch;
  const std::string pids = scratch.path("pids");
  const Ran ran =
      shell(binary_path("bin/wm") + " run --simulate v100 -- env --default-signal sh -c 'sleep 60 & " + "echo $! > " +
            pids + "; wait' & run=$!; until test -s " + pids +
            "; do sleep 0.05; done; kill -INT $run; wait $run; echo $?; for i in $(seq 100); do " +
            "grep -qs 'State:.[^Z]' /proc/$(cat " + pids + ")/status || { echo gone; break; }; " + "sleep 0.05; done");
  EXPECT_EQ(ran.out, "130\ngone\n") << ran.err;
}

TEST(WmRun, WithoutADaemonIsOneLine) {
  const Ran ran = run_wm("run --socket /nowhere/at/all -- true");
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("/nowhere/at/all"), std::string::npos);
  const Scratch scratch;
  const Ran waited = run_wm("run --wait 1.2 --socket " + scratch.path("socket") + " -- true");
  EXPECT_EQ(waited.code, 2);
  EXPECT_EQ(std::count(waited.err.begin(), waited.err.end(), '\n'), 1) << waited.err;
}

TEST(WmServe, RefusesTimesThatAreNoNumbers) {
  const std::string socket = " --socket /nowhere/at/all";
  struct Time {
    std::string option, variable, too_much;
  };
  for (const Time& time : {Time{"--short", "WARPMUX_SHORT", "1000001"}, Time{"--awake", "WARPMUX_AWAKE", "1001"}}) {
    for (const std::string& wrong : {std::string("some"), std::string("-1"), time.too_much, std::string("3.5")}) {
      const Ran option = run_wm("serve" + socket + " " + time.option + "=" + wrong);
      EXPECT_EQ(option.code, 2) << wrong;
      EXPECT_NE(option.err.find(time.option + " '" + wrong + "' is no number"), std::string::npos) << option.err;
      const Ran variable = shell(time.variable + "=" + wrong + " " + binary_path("bin/wm serve") + socket);
      EXPECT_EQ(variable.code, 2) << wrong;
      EXPECT_NE(variable.err.find(time.variable + " '"), std::string::npos) << variable.err;
    }
  }
}

// Returns the text that the daemon prints before it listens, with the given arguments.
std::string printed_by_serve(const std::string& arguments) {
  const Scratch scratch;
  const std::string log = scratch.path("log");
  return shell(binary_path("bin/wm serve --socket ") + scratch.path("socket") + " " + arguments + " > " + log +
               " & daemon=$!; until grep -q listening " + log +
               "; do kill -0 $daemon || exit 9; sleep 0.05; done; kill $daemon; wait $daemon; cat " + log)
      .out;
}

TEST(WmServe, AccelosDividesEveryLaunchUnlessAskedOtherwise) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  const std::string rule = "admission rule short_launches";
  EXPECT_EQ(printed_by_serve("--policy accelos").find(rule), std::string::npos);
  EXPECT_NE(printed_by_serve("--policy accelos --short 100").find(rule), std::string::npos);
  EXPECT_NE(printed_by_serve("--policy moving_shares").find(rule), std::string::npos);
}

}  // namespace
}  // namespace wm::cli
#endif
