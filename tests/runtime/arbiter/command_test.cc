// `wm serve --cuda`, `wm run` and `wm status` together, with the simulated driver and an MPS daemon that only takes
// notes.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

#include "base/json.h"
#include "tree.h"

namespace wm::runtime {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class ServeCudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wm-serve-cuda-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "mps") << "#!/bin/sh\necho \"$1 $CUDA_MPS_PIPE_DIRECTORY\" >> "
                                   << (folder_ / "notes").string() << "\n[ \"$1\" = -d ] || cat >> "
                                   << (folder_ / "notes").string() << "\n";
    fs::permissions(folder_ / "mps", fs::perms::owner_all);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Runs lines of shell in which `serve`, `run` and `status` are the commands with this daemon's socket.
  int script(const std::string& lines) {
    std::ofstream(folder_ / "script") << "cd " << folder_.string()
                                      << "\nexport WARPMUX_LIBCUDA=" << binary_path("lib/simulated/libcuda.so.1")
                                      << " WARPMUX_SIMULATE=h200 WARPMUX_GPUS=" << source_path("configs/gpus")
                                      << " WARPMUX_MPS_CONTROL=" << (folder_ / "mps").string()
                                      << "\nwm=" << binary_path("bin/wm")
                                      << "\nprogram=" << binary_path("tests/forward_program")
                                      << "\nserve() { exec timeout 60 $wm serve --cuda --socket socket \"$@\"; }"
                                      << "\nrun() { timeout 60 $wm run --socket socket \"$@\"; }"
                                      << "\nstatus() { timeout 60 $wm status --socket socket \"$@\"; }\n"
                                      << lines;
    return std::system(("sh " + (folder_ / "script").string()).c_str());
  }
  [[nodiscard]] std::string output(const std::string& file) const { return text_of(folder_ / file); }

  fs::path folder_;
};

// The long programs run until the test has seen what it waits for; the daemon ends after a minute in any case.
TEST_F(ServeCudaTest, ProgramsRunBesideEachOtherAndTheMpsDaemonIsStopped) {
  const int code = script(
      "serve --sharing mps --headroom 75 > served 2>&1 & daemon=$!\n"
      "run --priority 5 --name service -- $program latency 60 > service 2>&1 & first=$!\n"
      "run --name batch -- $program compute 60 > batch 2>&1 & second=$!\n"
      "run -- printenv CUDA_MPS_CLIENT_PRIORITY > low; run --priority 1 -- printenv CUDA_MPS_CLIENT_PRIORITY > high\n"
      "until status > table 2>&1 && grep -q 'at most 25%' table; do kill -0 $daemon || exit 9; sleep 0.05; done\n"
      "status --json json\n"
      "run -- $program latency 0.1 > short 2>&1; code=$?\n"
      "kill $first $second; wait $first; wait $second\n"
      "kill $daemon; wait $daemon\nexit $code\n");
  EXPECT_EQ(code, 0) << output("service") << output("batch") << output("short") << output("served");
  EXPECT_NE(output("short").find("\"wrong\": 0"), std::string::npos) << output("short");
  EXPECT_NE(output("table").find("at most 25% of the blocks per SM"), std::string::npos) << output("table");
  EXPECT_EQ(output("low"), "1\n");
  EXPECT_EQ(output("high"), "0\n");
  const auto status = nlohmann::json::parse(output("json"), nullptr, false);
  ASSERT_EQ(status["clients"].size(), 2U) << output("json");
  const std::string pipe = status["arbiter"]["mps_pipe_folder"];
  EXPECT_EQ(output("notes"), "-d " + pipe + "\n " + pipe + "\nquit -t 5\n");
  EXPECT_FALSE(fs::exists(pipe));
  EXPECT_FALSE(fs::exists(folder_ / "socket"));
}

TEST_F(ServeCudaTest, KernelsWithGatesAreNamedByStatus) {
  const int code = script(
      "(serve --gates) > isolated 2>&1; [ $? = 2 ] || exit 8\n"
      "serve --sharing mps --gates > served 2>&1 & daemon=$!\n"
      "run --priority 5 -- $program latency 60 > service 2>&1 & first=$!\n"
      "export WM_STOP_FILE=stop\n"
      "run -- $program gated told module > batch 2>&1 & second=$!\n"
      "until status > table 2>&1 && grep -q \"kernel 'straight'\" table && grep -q \"kernel 'sum' has gates\" table\n"
      "do kill -0 $daemon || exit 9; sleep 0.05; done\n"
      "touch stop; wait $second; code=$?\n"
      "kill $first; wait $first; kill $daemon; wait $daemon\nexit $code\n");
  EXPECT_EQ(code, 0) << output("service") << output("batch") << output("served");
  EXPECT_EQ(output("isolated"),
            "wm: gates are for programs that share the GPU with --sharing mps and without --policy\n");
  EXPECT_NE(output("table").find("kernel 'sum' has gates"), std::string::npos) << output("table");
  EXPECT_NE(output("table").find("kernel 'straight' has no gates: it has no loops"), std::string::npos)
      << output("table");
}

TEST_F(ServeCudaTest, WorkersAreRefusedOnGpusWhoseSmNumbersAreNotThoseOfAProcess) {
  EXPECT_NE(script("export WARPMUX_SIMULATE=a100\nserve --sharing mps --policy spatial --workers > refused 2>&1\n"), 0);
  EXPECT_EQ(output("refused"),
            "wm: --workers needs a GPU of compute capability 9.0 or later, which numbers its SMs for each process; "
            "warpmux a100 (simulated) has 8.x\n");
  EXPECT_FALSE(fs::exists(folder_ / "notes")) << "no MPS daemon was started";
}

TEST_F(ServeCudaTest, StatusSaysWhichKernelsRunAsWorkers) {
  const int code = script(
      "(serve --sharing mps --policy even --workers) > refused 2>&1; [ $? = 2 ] || exit 8\n"
      "export WARPMUX_WORKERS=always WM_STOP_FILE=stop\n"
      "serve --sharing mps --policy spatial --workers > served 2>&1 & daemon=$!\n"
      "run -- $program gated told module > batch 2>&1 & program=$!\n"
      "until status > table 2>&1 && grep -q \"kernel 'straight'\" table\n"
      "do kill -0 $daemon || exit 9; sleep 0.05; done\n"
      "touch stop; wait $program; code=$?\nkill $daemon; wait $daemon\nexit $code\n");
  EXPECT_EQ(code, 0) << output("batch") << output("served");
  EXPECT_EQ(output("refused"),
            "wm: workers are for programs that share the GPU with --sharing mps under a policy that gives them SMs\n");
  for (const char* line : {"132 of 132 SMs (workers)", "kernel 'sum' runs as workers",
                           "kernel 'spins' does not run as workers: a loop of it may wait for another block"})
    EXPECT_NE(output("table").find(line), std::string::npos) << output("table");
}

TEST_F(ServeCudaTest, TheDaemonsMemoryLimitHoldsForAllPrograms) {
  const int code = script(
      "serve --client-memory '2 MB' > served 2>&1 & daemon=$!\n"
      "run -- printenv WARPMUX_MEMORY_LIMIT > all; run --memory '1 MB' -- printenv WARPMUX_MEMORY_LIMIT > less\n"
      "run --memory '4 MB' -- printenv WARPMUX_MEMORY_LIMIT > more; run --memory '0 MB' -- true > none 2>&1\n"
      "kill $daemon; wait $daemon\n");
  EXPECT_EQ(code, 0) << output("served");
  EXPECT_EQ(output("all") + output("less") + output("more"), "2097152\n1048576\n2097152\n");
  EXPECT_NE(output("none").find("leaves the program no memory"), std::string::npos) << output("none");
}

TEST_F(ServeCudaTest, MistakesAreTold) {
  EXPECT_NE(script("serve --memory '1 GB' > out 2>&1\n"), 0);
  EXPECT_NE(output("out").find("--client-memory limits each program"), std::string::npos) << output("out");
  EXPECT_NE(script("serve --sharing some > out 2>&1\n"), 0);
  EXPECT_NE(output("out").find("neither mps nor isolated"), std::string::npos) << output("out");
  EXPECT_NE(script("serve --policy time_slice --sharing mps > out 2>&1\n"), 0);
  EXPECT_NE(output("out").find("time_slice"), std::string::npos) << output("out");
  EXPECT_NE(script("WARPMUX_LIBCUDA=/nonexistent serve > out 2>&1\n"), 0);
  EXPECT_NE(output("out").find("no CUDA driver"), std::string::npos) << output("out");
  const int code = script(
      "serve > served 2>&1 & daemon=$!\nrun --goal p98=3ms -- $program shared 1 > out 2>&1; code=$?\n"
      "kill $daemon; wait $daemon\n[ $code = 2 ]\n");
  EXPECT_EQ(code, 0) << output("out") << output("served");
  EXPECT_NE(output("out").find("p99 is the only percentile"), std::string::npos) << output("out");
}

TEST_F(ServeCudaTest, ARateMayHaveItsUnit) {
  const int code = script(
      "serve --sharing mps > served 2>&1 & daemon=$!\nrun --goal rate=200/s -- $program shared 1 > out 2>&1; code=$?\n"
      "run --goal rate=200 -- $program shared 1 >> out 2>&1 || code=$?\n"
      "kill $daemon; wait $daemon\nexit $code\n");
  EXPECT_EQ(code, 0) << output("out") << output("served");
}

TEST_F(ServeCudaTest, AGoalThatThePolicyIgnoresIsToldWithPoliciesThatRunHere) {
  const int code = script(
      "serve --policy dss --sharing mps > served 2>&1 & daemon=$!\nrun --goal 0.5 -- $program shared 1 > out 2>&1; "
      "code=$?\nkill $daemon; wait $daemon\n[ $code = 0 ]\n");
  EXPECT_EQ(code, 0) << output("out") << output("served");
  EXPECT_NE(output("out").find("policy dss does not honour goals; these do: goal_shares, quota, smqos"),
            std::string::npos)
      << output("out");
}

}  // namespace
}  // namespace wm::runtime
