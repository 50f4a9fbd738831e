// The built wm, with good and bad arguments: exit codes, one-line errors, help with examples, JSON, no partial files.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "base/json.h"
#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

const std::string kExample = source_path("examples/saxpy/");

void expect_one_line(const Ran& ran, const std::string& message) {
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(message));
  EXPECT_TRUE(ran.err.starts_with("wm: ")) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

// The names below "Subcommands:" of a help text.
std::vector<std::string> subcommands(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Subcommands:") {
      inside = true;
    } else if (line.empty()) {
      inside = false;
    } else if (inside && line.starts_with("  ") && line[2] != ' ') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

void expect_examples_below(const std::string& command, int& seen) {
  const Ran ran = run_wm(command + " --help");
  EXPECT_EQ(ran.code, 0) << command;
  EXPECT_THAT(ran.out, HasSubstr("Example")) << "wm " << command;
  ++seen;
  for (const std::string& name : subcommands(ran.out)) expect_examples_below(command + " " + name, seen);
}

TEST(Wm, EveryCommandsHelpHasAnExample) {
  int seen = 0;
  expect_examples_below("", seen);
  EXPECT_GE(seen, 12);
}

TEST(Wm, VersionAndBareStart) {
  EXPECT_THAT(run_wm("--version").out, MatchesRegex("wm 0\\.[0-9]+\\.[0-9]+( \\([0-9a-f]+(-dirty)?\\))?\n"));
  const Ran bare = run_wm("");
  EXPECT_EQ(bare.code, 0);
  EXPECT_THAT(bare.out, HasSubstr("Subcommands:"));
}

TEST(Wm, BadInputIsOneLineAndExitCodeTwo) {
  expect_one_line(run_wm("kernls"), "no command 'kernls' (did you mean 'kernels'?)");
  expect_one_line(run_wm("ptx chck a"), "no command 'ptx chck' (did you mean 'check'?)");
  expect_one_line(run_wm("kernels chek sgemm"), "no command 'kernels chek' (did you mean 'check'?)");
  expect_one_line(run_wm("kernels --frob"), "--frob");
  expect_one_line(run_wm("kernels sgem"), "did you mean 'sgemm'?");
  expect_one_line(run_wm("kernels histo/mian"), "'histo' has no kernel 'mian' (did you mean 'main'?)");
  expect_one_line(run_wm("kernels check sgemm --size big"), "no size 'big'");
  expect_one_line(run_wm("kernels check sgemm --jobs 0"), "--jobs");
  expect_one_line(run_wm("kernels check nofile.yaml"), "cannot read 'nofile.yaml'");
  expect_one_line(run_wm("kernels check sgemm --ptx-from gcc"), "--ptx-from takes clang, nvcc, opencl or a folder");
  expect_one_line(run_wm("ptx"), "needs a command: check");
  expect_one_line(run_wm("ptx check"), "needs FILES");
  expect_one_line(run_wm("ptx check /no/such.ptx"), "cannot read '/no/such.ptx'");
  expect_one_line(run_wm("ptx print /"), "'/' is a folder");
  expect_one_line(run_wm("test"), "./wm test");
  expect_one_line(run_wm("bench exec --seconds -1"), "--seconds");
}

TEST(Wm, KernelsListsTheZoo) {
  const Ran ran = run_wm("kernels --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json list = json::parse(ran.out);
  EXPECT_EQ(list["schema"], 1);
  std::vector<std::string> names;
  for (const json& item : list["items"]) names.push_back(item["name"]);
  EXPECT_THAT(names,
              ElementsAre("atax", "atomics", "bfs", "bicg", "binomial", "blackscholes", "chase", "cutcp", "denoise",
                          "dxt", "fma", "gather", "gesummv", "histo", "hotspot", "knn", "lbm", "libor", "mergesort",
                          "mri-gridding", "mri-q", "mri-q-constant", "mvp", "neural", "pathfinder", "pingpong", "sad",
                          "sgemm", "smem", "spmv", "stencil", "tpacf", "vecadd"));
  EXPECT_EQ(run_wm("kernels | head -1").out.substr(0, 4), "name");
}

TEST(Wm, KernelDetailsByNameAliasAndPart) {
  const json sgemm = json::parse(run_wm("kernels sgemm --json -").out)["items"][0];
  EXPECT_EQ(sgemm["kernels"][0]["name"], "sgemm");
  EXPECT_GT(sgemm["kernels"][0]["instructions"], 50);
  EXPECT_GT(sgemm["kernels"][0]["registers"], 16);
  EXPECT_GT(sgemm["kernels"][0]["shared_bytes"], 0);
  ASSERT_EQ(sgemm["sizes"].size(), 3U);
  EXPECT_EQ(sgemm["sizes"][2]["size"], "large");
  EXPECT_EQ(sgemm["sizes"][0]["launches"][0]["block"].size(), 3U);

  EXPECT_EQ(json::parse(run_wm("kernels BLK --json -").out)["items"][0]["name"], "blackscholes");
  const json part = json::parse(run_wm("kernels histo/main --json -").out)["items"][0];
  ASSERT_EQ(part["kernels"].size(), 1U);
  EXPECT_EQ(part["kernels"][0]["name"], "main");
}

TEST(Wm, KernelDetailsHaveShortBlocksWhereTheyDiffer) {
  const json libor = json::parse(run_wm("kernels libor --json -").out)["items"][0];
  ASSERT_EQ(libor["sizes"].size(), 4U);
  EXPECT_EQ(libor["sizes"][3]["size"], "short_blocks");
  EXPECT_EQ(libor["sizes"][3]["launches"][0]["kernel"], "libor_step");
  EXPECT_EQ(json::parse(run_wm("kernels atax/1 --json -").out)["items"][0]["sizes"][3]["launches"].size(), 1U);
}

TEST(Wm, CheckPassesAndSaysSo) {
  const Ran ran = run_wm("kernels check vecadd sgemm --json -");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_EQ(ran.err, "") << "quiet in a pipe";
  const json items = json::parse(ran.out)["items"];
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[1]["name"], "sgemm");
  EXPECT_EQ(items[1]["passed"], true);
  EXPECT_EQ(items[1]["detail"], "matches the reference");
  EXPECT_GT(items[1]["warp_instructions"], 1000);
  EXPECT_THAT(run_wm("kernels check vecadd").out, HasSubstr("1 benchmark passed"));
}

TEST(Wm, ANameCarriesItsSize) {
  const json items = json::parse(run_wm("kernels check vecadd:size=medium vecadd --json -").out)["items"];
  EXPECT_EQ(items[0]["size"], "medium");
  EXPECT_EQ(items[1]["size"], "small");
  expect_one_line(run_wm("kernels check vecadd:size=big"), "no size 'big'");
  expect_one_line(run_wm("kernels check vecadd:goal=0.9"), "'goal=0.9' says nothing here");
}

TEST(Wm, ResultsDoNotDependOnTheNumberOfJobs) {
  const auto counts = [](const std::string& jobs) {
    std::vector<std::uint64_t> all;
    const json result = json::parse(run_wm("kernels check bfs histo vecadd fma --json - --jobs " + jobs).out);
    for (const json& item : result["items"]) all.push_back(item["thread_instructions"]);
    return all;
  };
  EXPECT_EQ(counts("1"), counts("4"));
}

TEST(Wm, ABrokenKernelOfTheZooFailsItsCheck) {
  const Scratch scratch;
  const std::string broken = "sed s/add.f32/sub.f32/ " + binary_path("kernels/ptx/vecadd.ptx > ");
  ASSERT_EQ(shell(broken + scratch.path("vecadd.ptx")).code, 0);
  const Ran ran = run_wm("kernels check vecadd --json - --ptx-from " + scratch.path());
  EXPECT_EQ(ran.code, 1);
  const json item = json::parse(ran.out)["items"][0];
  EXPECT_EQ(item["passed"], false);
  EXPECT_THAT(item["detail"].get<std::string>(), HasSubstr("elements wrong"));
  EXPECT_THAT(run_wm("kernels check vecadd --ptx-from " + scratch.path()).out, HasSubstr("1 of 1 benchmark failed"));
}

TEST(Wm, AKernelOfOnesOwnIsTakenWhereverANameIs) {
  const std::string yaml = std::string(kExample) + "saxpy.yaml";
  EXPECT_EQ(run_wm("kernels check " + yaml + " vecadd").code, 0);
  EXPECT_EQ(json::parse(run_wm("kernels --json - " + yaml).out)["items"][0]["kernels"][0]["name"], "saxpy");
  EXPECT_THAT(run_wm("ptx run " + yaml + " --dump y:f32:4").out, HasSubstr("y[0] 1 3.5 6 8.5\n"));
}

TEST(Wm, AKernelOfOnesOwnWithAWrongExpectationFails) {
  const Scratch scratch;
  shell("cp " + std::string(kExample) + "saxpy.ptx " + scratch.path());
  shell("sed 's/step: 2.5/step: 2/' " + std::string(kExample) + "saxpy.yaml > " + scratch.path("k.yaml"));
  const Ran ran = run_wm("kernels check " + scratch.path("k.yaml"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("FAILED: y[1] is 3.5, expected 3 (999 of 1000 elements wrong)"));
}

TEST(Wm, AKernelOfWhichNothingIsExpectedIsNotVerified) {
  const Scratch scratch;
  shell("cp " + std::string(kExample) + "saxpy.ptx " + scratch.path());
  shell("sed 's/, expect: .*/}/' " + std::string(kExample) + "saxpy.yaml > " + scratch.path("k.yaml"));
  const json item = json::parse(run_wm("kernels check --json - " + scratch.path("k.yaml")).out)["items"][0];
  EXPECT_EQ(item["passed"], true);
  EXPECT_EQ(item["verified"], false);
  EXPECT_EQ(json::parse(run_wm("kernels check --json - vecadd").out)["items"][0]["verified"], true);
}

TEST(Wm, TheSizeOfAKernelOfOnesOwnCannotBeChosen) {
  const std::string yaml = std::string(kExample) + "saxpy.yaml";
  expect_one_line(run_wm("kernels check " + yaml + ":size=small"), "has one size");
  expect_one_line(run_wm("sim --kernel " + yaml + ":size=small"), "has one size");
}

TEST(Wm, FusingIsChosenWithFmad) {
  const Scratch scratch;
  // 1 + 2^-12 squared, less 1: the product's last bits remain only where it is fused.
  scratch.write(
      "k.ptx",
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .f32 %f<4>;\n"
      ".reg .b64 %d;\nld.param.u64 %d, [out];\nld.global.f32 %f1, [%d];\nmul.f32 %f2, %f1, %f1;\n"
      "sub.f32 %f3, %f2, 0f3F800000;\nst.global.f32 [%d], %f3;\nret;\n}\n");
  const std::string run =
      "ptx run " + scratch.path("k.ptx") + " --grid 1 --block 1 --arg buf:y:f32x1:=1.000244140625 --dump y:u32:1";
  EXPECT_THAT(run_wm(run).out, HasSubstr("973079552"));                  // 2^-11 + 2^-24 = 0x3a000400
  EXPECT_THAT(run_wm(run + " --fmad off").out, HasSubstr("973078528"));  // 2^-11 = 0x3a000000
  expect_one_line(run_wm(run + " --fmad maybe"), "--fmad takes on or off");
}

TEST(Wm, AWrittenFileIsWholeOrNotThere) {
  const Scratch scratch;
  EXPECT_EQ(run_wm("kernels check vecadd --json " + scratch.path("r.json")).code, 0);
  EXPECT_TRUE(json::parse(scratch.read("r.json"))["items"][0]["passed"]);
  EXPECT_THAT(scratch.files(), ElementsAre("r.json"));
  expect_one_line(run_wm("ptx print " + std::string(kExample) + "saxpy.ptx -o " + scratch.path("no/x.ptx")),
                  "cannot write");
  EXPECT_THAT(scratch.files(), ElementsAre("r.json"));
}

TEST(Wm, DemoTellsWhatItDid) {
  const Scratch scratch;
  const Ran ran = run_wm("demo --cycles 3000 --cache '' --html " + scratch.path("demo.html"));
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("output equal to the CPU's"));
  EXPECT_THAT(ran.out, HasSubstr("\nquota "));
  EXPECT_THAT(ran.out, HasSubstr("of 8 policies keep dxt at its goal"));
  EXPECT_THAT(ran.out, HasSubstr("4  Next"));
  if (ran.out.find("no page: ") == std::string::npos) {
    EXPECT_THAT(scratch.read("demo.html"), HasSubstr("\"title\":\"Two kernels on one GPU\""));
  }
}

TEST(Wm, BenchOfTheCycleMachineHasARateAndAPeakOfMemory) {
  const json item = json::parse(run_wm("bench sim vecadd --gpu qos16 --seconds 0 --json -").out)["items"][0];
  EXPECT_EQ(item["name"], "vecadd");
  EXPECT_EQ(item["gpu"], "qos16");
  EXPECT_EQ(item["sms"], 16);
  EXPECT_EQ(item["warp_instructions"], 622'592);
  EXPECT_GT(item["gpu_cycles"], 20'000);
  EXPECT_DOUBLE_EQ(item["warp_instructions_per_second"], 622'592 / item["seconds"].get<double>());
  EXPECT_GT(item["peak_rss_bytes"], 1'000'000);
  EXPECT_LT(item["peak_rss_bytes"], 500'000'000);
  expect_one_line(run_wm("bench sim vecad"), "did you mean 'vecadd'?");
}

TEST(Wm, BenchMeasures) {
  const json item = json::parse(run_wm("bench exec vecadd --size small --seconds 0 --json -").out)["items"][0];
  EXPECT_EQ(item["name"], "vecadd");
  EXPECT_GT(item["warp_instructions_per_second"], 0);
}

}  // namespace
}  // namespace wm::cli
