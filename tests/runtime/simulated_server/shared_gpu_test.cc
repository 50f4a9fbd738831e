// Unmodified programs share one simulated GPU: results, goals, times and faults, with the daemon and the programs as
// processes.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/json.h"
#include "tree.h"

namespace wm::runtime {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// One run: a daemon for as many programs as there are, and the programs, started in the order given.
class SharedGpuTest : public ::testing::Test {
 protected:
  struct Program {
    std::string name, arguments, options{};
  };

  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wm-shared-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

#ifdef __SANITIZE_THREAD__
  [[nodiscard]] std::string wm() const { return "timeout 600 " + binary_path("bin/wm"); }
#else
  [[nodiscard]] std::string wm() const { return "timeout 60 " + binary_path("bin/wm"); }
#endif
  [[nodiscard]] std::string socket() const { return " --socket " + (folder_ / "socket").string(); }
  [[nodiscard]] std::string run_command(const Program& p) const {
    return wm() + " run" + socket() + " --name " + p.name + " " + p.options + " -- " +
           binary_path("tests/shared_cuda_program") + " " + p.arguments + " > " + (folder_ / p.name).string() + " 2>&1";
  }

  // The daemon's report. The output of programs lies in files of their names.
  Json run(const std::string& serve_options, const std::vector<Program>& programs) {
    const std::string json = (folder_ / "json").string();
    std::string script = wm() + " serve --simulate qos16" + socket() + " --clients " + std::to_string(programs.size()) +
                         " --timeline --json " + json + " " + serve_options + " > " + (folder_ / "serve").string() +
                         " 2>&1 & daemon=$!\n";
    for (const Program& p : programs) script += run_command(p) + " &\n";
    script += "wait $daemon; code=$?; wait; exit $code\n";
    std::ofstream(folder_ / "script") << script;
    const int code = std::system(("sh " + (folder_ / "script").string()).c_str());
    EXPECT_EQ(code, 0) << text_of(folder_ / "serve");
    return Json::parse(text_of(json), nullptr, false);
  }
  // The program b waits for the device while a, which never waits, is there; then `commands` are run and a is killed.
  void run_until_b_waits(const std::string& commands) {
    const std::string file = (folder_ / "status").string();
    std::string script = wm() + " serve --simulate qos16" + socket() + " --clients 2 > " +
                         (folder_ / "serve").string() + " 2>&1 & daemon=$!\n" + run_command({"b", "stream 2 8"}) +
                         " & b=$!\n";
    script += binary_path("bin/wm") + " run" + socket() + " --name a -- " + binary_path("tests/shared_cuda_program") +
              " sleep > /dev/null 2>&1 & a=$!\n";
    script += "for i in $(seq 100); do sleep 0.1; " + wm() + " status" + socket() + " --json " + file +
              " > /dev/null 2>&1; grep -q '\"state\": \"waits\"' " + file + " && grep -q '\"name\": \"a\"' " + file +
              " && break; done\n" + commands + "\nkill -9 $a 2> /dev/null; kill $daemon 2> /dev/null; wait; exit 0\n";
    std::ofstream(folder_ / "script") << script;
    ASSERT_EQ(std::system(("sh " + (folder_ / "script").string()).c_str()), 0);
  }
  [[nodiscard]] std::string output(const std::string& program) const { return text_of(folder_ / program); }

  fs::path folder_;
  std::string hash_;
};

TEST_F(SharedGpuTest, EveryPolicyGivesCorrectResultsAndMeetsTheGoal) {
  for (const char* policy : {"left_over", "spatial", "smqos", "quota"}) {
    const Json report = run(std::string("--threads 1 --policy ") + policy,
                            {{"a", "compute 1 768", "--goal 0.3"}, {"b", "stream 3 768"}});
    EXPECT_NE(output("a").find("compute: correct"), std::string::npos) << policy << output("a");
    EXPECT_NE(output("b").find("stream: correct"), std::string::npos) << policy << output("b");
    ASSERT_EQ(report["kernels"].size(), 2U) << policy << output("serve");
    EXPECT_EQ(report["kernels"][0]["name"], "a");
    EXPECT_EQ(report["kernels"][0]["reached"], true) << policy << report["kernels"][0].dump();
    EXPECT_GT(report["kernels"][0]["ipc_alone"], 0.0);
    EXPECT_TRUE(report["kernels"][1]["goal"].is_null());
    EXPECT_EQ(report["timeline"]["held"].size(), 2U);
    EXPECT_EQ(output("serve").find("not verified"), std::string::npos) << output("serve");
    const bool is_told = output("a").find("does not honour goals") != std::string::npos;
    EXPECT_EQ(is_told, policy == std::string("left_over") || policy == std::string("spatial")) << output("a");
    EXPECT_EQ(output("a").find("smqos") != std::string::npos, is_told) << output("a");  // the advice names it
  }
}

TEST_F(SharedGpuTest, ProgramsShareTheBlockMachineToo) {
  const std::string trace = (folder_ / "trace").string(), page = (folder_ / "page").string();
  for (const char* order : {"ab", "ba"}) {
    const Program a{"a", "compute 4 64", "--goal 0.2"}, b{"b", "stream 6 64"};
    const Json report = run("--timing block --policy spatial --html " + page + " --trace " + trace,
                            *order == 'a' ? std::vector{a, b} : std::vector{b, a});
    EXPECT_NE(output("a").find("compute: correct"), std::string::npos) << output("a");
    EXPECT_NE(output("b").find("stream: correct"), std::string::npos) << output("b");
    ASSERT_EQ(report["kernels"].size(), 2U);
    EXPECT_EQ(report["kernels"][0]["launches_done"], 4);
    EXPECT_EQ(report["kernels"][0]["reached"], true) << report["kernels"][0].dump();
    const Json events = Json::parse(text_of(trace), nullptr, false)["traceEvents"];
    const auto spans = [&](const std::string& name, std::uint32_t group) {
      return std::count_if(events.begin(), events.end(),
                           [&](const Json& e) { return e["ph"] == "X" && e["name"] == name && e["pid"] == group; });
    };
    EXPECT_EQ(spans("a", 10), 4);  // launches
    EXPECT_EQ(spans("b", 11), 6);
    EXPECT_GE(spans("a", 1), 4);  // SMs with blocks of it
    const Json& curves = report["timeline"]["curves"];
    EXPECT_EQ(report["timeline"]["held"].size(), 2U);
    EXPECT_TRUE(curves["watts"].is_null()) << "the block machine counts instructions only";
    for (std::size_t k = 0; k < 2; ++k) {
      double instructions = 0;
      for (std::size_t i = 0; i < curves["begin"].size(); ++i)
        instructions += curves["kernels"][k]["ipc"][i].get<double>() * curves["cycles"][i].get<double>();
      const auto executed = report["kernels"][k]["instructions"].get<double>();
      EXPECT_GT(executed, 0);
      EXPECT_NEAR(instructions, executed, 0.02 * executed);
    }
    EXPECT_NE(text_of(page).find("<html"), std::string::npos);
    if (hash_.empty()) hash_ = report["run_hash"].get<std::string>();
    EXPECT_EQ(report["run_hash"], hash_);
  }
}

TEST_F(SharedGpuTest, SimulatedTimeDoesNotDependOnTheHost) {
  const Program a{"a", "compute 3 32"}, b{"b", "streams 3 32"};
  const Json first = run("--policy spatial --threads 1", {a, b}), second = run("--policy spatial --threads 2", {b, a});
  EXPECT_EQ(first["run_hash"], second["run_hash"]);
  EXPECT_EQ(first["kernels"].size(), 3U);  // the second stream of b is a kernel of its own
  const Json third = run("--policy spatial", {{"a", "poll 3 32"}, b}),
             fourth = run("--policy spatial", {b, {"a", "poll 3 32"}});
  EXPECT_EQ(third["run_hash"], fourth["run_hash"]);
  EXPECT_EQ(output("a").find("never asked"), std::string::npos) << output("a");
}

TEST_F(SharedGpuTest, HostTimePassesWhereItIsAskedFor) {
  const auto cycles = [&](const std::string& rule) {
    return run("--host-time " + rule, {{"a", "stream 1 4"}})["cycles"].get<std::uint64_t>();
  };
  EXPECT_LT(cycles("none"), 2'000U);
  EXPECT_GT(cycles("1000"), 20'000U);  // the host takes microseconds at least
}

TEST_F(SharedGpuTest, AFaultEndsOnlyItsProgram) {
  const Json report = run("", {{"a", "fault 2 4"}, {"b", "stream 5 16"}});
  EXPECT_NE(output("a").find("out of bounds"), std::string::npos) << output("a");
  EXPECT_NE(output("a").find("fault: 700"), std::string::npos) << output("a");
  EXPECT_NE(output("b").find("stream: correct"), std::string::npos) << output("b");
  EXPECT_EQ(report["kernels"][1]["launches_done"], 5);
}

TEST_F(SharedGpuTest, RegisteredMemoryOfAProgramIsSharedWithTheDaemon) {
  const Json report = run("", {{"a", "register 3 16"}, {"b", "stream 1 1"}});
  EXPECT_NE(output("a").find("register: correct"), std::string::npos) << output("a");
  EXPECT_EQ(report["kernels"][0]["launches_done"], 3);
}

TEST_F(SharedGpuTest, EverySmHasTheHeapThatTheProgramAskedFor) {
  run("", {{"a", "heap 2 4"}, {"b", "stream 1 1"}});
  EXPECT_NE(output("a").find("heap: correct"), std::string::npos) << output("a");
}

TEST_F(SharedGpuTest, KernelsPrintToTheirProgram) {
  run("", {{"a", "print 2 1"}, {"b", "stream 1 1"}});
  const std::string printed = output("a");
  std::size_t lines = 0;
  for (std::size_t at = printed.find("hello"); at != std::string::npos; at = printed.find("hello", at + 1)) ++lines;
  EXPECT_EQ(lines, 2U * 128) << printed.substr(0, 200);
  EXPECT_EQ(output("b").find("hello"), std::string::npos);
}

TEST_F(SharedGpuTest, StatusShowsProgramsAndOneThatDiesLeaves) {
  run_until_b_waits("kill -9 $a; wait $b");
  const Json document = Json::parse(text_of(folder_ / "status"), nullptr, false);
  ASSERT_TRUE(document.is_object()) << text_of(folder_ / "status");
  EXPECT_EQ(document["simulated"]["gpu"], "qos16");
  ASSERT_EQ(document["clients"].size(), 2U);
  EXPECT_EQ(document["clients"][0]["name"], "a");
  EXPECT_EQ(document["clients"][0]["state"], "runs on the host");
  EXPECT_EQ(document["clients"][1]["memories"].get<int>(), 4);  // two buffers and two variables
  EXPECT_NE(output("b").find("stream: correct"), std::string::npos) << output("b");
}

TEST_F(SharedGpuTest, AKernelThatNeverEndsLeavesWithItsProgram) {
  // The block machine executes a launch in one step, and so does the measurement of an isolated rate.
  const std::vector<std::pair<std::string, std::string>> cases = {{"--timing block", ""}, {"", "--goal 0.5"}};
  for (const auto& [serve_options, goal] : cases) {
    std::string script = wm() + " serve --simulate qos16" + socket() + " " + serve_options + " > " +
                         (folder_ / "serve").string() + " 2>&1 & daemon=$!\n";
    script += binary_path("bin/wm") + " run" + socket() + " --name a " + goal + " -- " +
              binary_path("tests/shared_cuda_program") + " endless 1 1 > /dev/null 2>&1 & a=$!\nsleep 1; kill -9 $a\n";
    script += run_command({"b", "stream 2 8"}) + "; code=$?\nkill -INT $daemon; wait $daemon; exit $code\n";
    std::ofstream(folder_ / "script") << script;
    EXPECT_EQ(std::system(("sh " + (folder_ / "script").string()).c_str()), 0) << serve_options << output("serve");
    EXPECT_NE(output("b").find("stream: correct"), std::string::npos) << serve_options << output("b");
  }
}

TEST_F(SharedGpuTest, AProgramThatEndsBeforeTheOthersConnectCounts) {
  const std::string script = wm() + " serve --simulate qos16" + socket() + " --clients 2 > " +
                             (folder_ / "serve").string() + " 2>&1 & daemon=$!\n" + run_command({"a", "connect"}) +
                             "\n" + run_command({"b", "stream 2 8"}) + "\nwait $daemon\n";
  std::ofstream(folder_ / "script") << script;
  EXPECT_EQ(std::system(("sh " + (folder_ / "script").string()).c_str()), 0) << output("serve");
  EXPECT_NE(output("b").find("stream: correct"), std::string::npos) << output("b");
}

TEST_F(SharedGpuTest, AProgramIsGoneThoughItsChildLives) {
  run("", {{"a", "fork 2 4"}});
  EXPECT_NE(output("a").find("fork: correct"), std::string::npos) << output("a");
}

TEST_F(SharedGpuTest, MemoryIsAllocatedWhileAStreamWaitsForAValue) {
#ifdef __SANITIZE_THREAD__
  run("", {{"a", "values 300 1"}});  // a round takes ten times as long
#else
  run("", {{"a", "values 3000 1"}});
#endif
  EXPECT_NE(output("a").find("values: correct"), std::string::npos) << output("a");
}

TEST_F(SharedGpuTest, AProgramThatWmEndEndedIsToldSo) {
  const std::string end = (folder_ / "end").string(), code = (folder_ / "code").string();
  run_until_b_waits(wm() + " end" + socket() + " b > " + end + " 2>&1; wait $b; echo $? > " + code);
  EXPECT_NE(text_of(end).find("(b, pid "), std::string::npos) << text_of(end);
  EXPECT_NE(text_of(end).find("is ended"), std::string::npos) << text_of(end);
  EXPECT_NE(output("b").find("`wm end` has ended this program on the simulated GPU"), std::string::npos) << output("b");
  EXPECT_NE(text_of(code), "0\n");
}

}  // namespace
}  // namespace wm::runtime
