// wm ptx: check, print, stats and run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string& saxpy() {
  static const std::string path = source_path("examples/saxpy/saxpy.ptx");
  return path;
}

constexpr const char* kSpin = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry spin(.param .u64 p) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 5;
$again:
  st.global.u32 [%rd1+64], %r1;
  bra $again;
}
)";

const std::string kArguments = " --grid 4 --block 256 --arg u32:1000 --arg f32:2.5 --arg buf:x:f32x1000:iota";

TEST(WmPtx, CheckNamesWhatItDoesNotKnow) {
  const Scratch scratch;
  scratch.write("bad.ptx",
                ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k() {\n  frobnicate.b32 1;\n}\n");
  EXPECT_EQ(run_wm("ptx check " + saxpy()).code, 0);
  const Ran ran = run_wm("ptx check --json - " + saxpy() + " " + scratch.path("bad.ptx"));
  EXPECT_EQ(ran.code, 1);
  const json items = json::parse(ran.out)["items"];
  EXPECT_EQ(items[0]["passed"], true);
  EXPECT_EQ(items[1]["passed"], false);
  EXPECT_THAT(items[1]["detail"].get<std::string>(), HasSubstr("bad.ptx:5:"));
  EXPECT_THAT(items[1]["detail"].get<std::string>(), HasSubstr("frobnicate"));
}

TEST(WmPtx, CheckRefusesSingleKernels) {
  const Scratch scratch;
  scratch.write("two.ptx",
                ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry bad() {\n  frobnicate.b32 1;\n}\n"
                ".visible .entry good() {\n  ret;\n}\n");
  const Ran ran = run_wm("ptx check --json - " + scratch.path("two.ptx"));
  EXPECT_EQ(ran.code, 1);
  const json item = json::parse(ran.out)["items"][0];
  EXPECT_EQ(item["kernels"], 2);
  ASSERT_EQ(item["refused"].size(), 1U);
  EXPECT_THAT(item["refused"][0].get<std::string>(), testing::StartsWith("bad: "));
}

// `bad` calls a function with an unknown instruction; the kernel behind it calls another one.
constexpr const char* kOneOfTwo = R"(.version 7.5
.target sm_75
.address_size 64
.func unknown() {
  frobnicate.b32 1;
}
.func known() {
  ret;
}
.visible .entry bad() {
  call unknown;
  ret;
}
.visible .entry good() {
  call known;
  ret;
}
)";

TEST(WmPtx, PrintLeavesRefusedKernelsOut) {
  const Scratch scratch;
  scratch.write("two.ptx", kOneOfTwo);
  const Ran ran = run_wm("ptx print " + scratch.path("two.ptx") + " -o " + scratch.path("good.ptx"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("two.ptx:5:"));
  EXPECT_THAT(ran.err, HasSubstr("kernel 'bad' is left out"));
  const std::string printed = scratch.read("good.ptx");
  EXPECT_THAT(printed, testing::AllOf(HasSubstr("good"), HasSubstr("known"), testing::Not(HasSubstr("bad"))));
  EXPECT_EQ(run_wm("ptx check " + scratch.path("good.ptx")).code, 0);
}

TEST(WmPtx, StatsAndRewriteNameRefusedKernels) {
  const Scratch scratch;
  scratch.write("two.ptx", kOneOfTwo);
  const Ran stats = run_wm("ptx stats --json - " + scratch.path("two.ptx"));
  EXPECT_EQ(stats.code, 1);
  EXPECT_EQ(json::parse(stats.out)["items"].size(), 1U);
  EXPECT_THAT(stats.err, HasSubstr("kernel 'bad' is left out"));
  const Ran shown = run_wm("ptx rewrite --workers " + scratch.path("two.ptx"));
  EXPECT_EQ(shown.code, 1);
  EXPECT_THAT(shown.err, HasSubstr("kernel 'bad': left out: "));
  EXPECT_THAT(shown.out, testing::AllOf(HasSubstr("good"), testing::Not(HasSubstr("bad"))));
}

TEST(WmPtx, AFileWithoutAnUsableFunctionIsRefused) {
  const Scratch scratch;
  scratch.write("bad.ptx",
                ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k() {\n  frobnicate 1;\n}\n");
  for (const char* tool : {"print ", "stats ", "rewrite --gates "}) {
    const Ran ran = run_wm(std::string("ptx ") + tool + scratch.path("bad.ptx"));
    EXPECT_EQ(ran.code, 2) << tool;
    EXPECT_THAT(ran.err, HasSubstr("bad.ptx:5:")) << tool;
  }
}

TEST(WmPtx, PrintIsStable) {
  const Scratch scratch;
  ASSERT_EQ(run_wm("ptx print " + saxpy() + " -o " + scratch.path("once.ptx")).code, 0);
  EXPECT_EQ(run_wm("ptx print " + scratch.path("once.ptx")).out, scratch.read("once.ptx"));
}

TEST(WmPtx, StatsCountInstructions) {
  const json item = json::parse(run_wm("ptx stats --json - " + saxpy()).out)["items"][0];
  EXPECT_EQ(item["name"], "saxpy");
  EXPECT_EQ(item["instructions"], 20);
  EXPECT_EQ(item["stores"], 1);
  EXPECT_EQ(item["parameter_bytes"], 24);
}

TEST(WmPtx, RunDumpsToTheScreenAndToFiles) {
  const Scratch scratch;
  const Ran ran =
      run_wm("ptx run " + saxpy() + kArguments + " --arg buf:y:f32x1000:=1 --dump y --dump y=" + scratch.path("y.bin") +
             " --json " + scratch.path("r.json"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("y[992] 2481 2483.5"));
  EXPECT_THAT(ran.out, HasSubstr("saxpy: 4 blocks, 640 warp instructions"));
  EXPECT_EQ(scratch.read("y.bin").size(), 4000U);
  EXPECT_EQ(json::parse(scratch.read("r.json"))["items"][0]["buffers"]["y"][999], 2498.5);
}

TEST(WmPtx, RunReadsBuffersFromFiles) {
  const Scratch scratch;
  scratch.write("y.bin", std::string(4000, '\0'));
  const std::string file = " --arg buf:y:4000:@" + scratch.path("y.bin");
  EXPECT_THAT(run_wm("ptx run " + saxpy() + kArguments + file + " --dump y:f32:2").out, HasSubstr("y[0] 0 2.5\n"));
}

TEST(WmPtx, ARunsMistakesAreOneLine) {
  const auto line = [](const std::string& arguments) {
    const Ran ran = run_wm("ptx run " + saxpy() + arguments);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(line(""), HasSubstr("--grid and --block are needed"));
  EXPECT_THAT(line(" --grid 0 --block 1"), HasSubstr("--grid: '0' is no extent"));
  EXPECT_THAT(line(" --kernel sxpy --grid 1 --block 1"), HasSubstr("has no kernel 'sxpy' (did you mean 'saxpy'?)"));
  EXPECT_THAT(line(kArguments), HasSubstr("saxpy"));
  EXPECT_THAT(line(kArguments + " --arg u33:1"), HasSubstr("'u33:1' is no argument"));
  EXPECT_THAT(line(kArguments + " --arg buf:y:f32x1000 --dump z"), HasSubstr("no buffer 'z'"));
  EXPECT_THAT(line(kArguments + " --arg buf:y:f32x1000 --dump y:f64:501"),
              HasSubstr("the buffer has 500 values of f64"));
  EXPECT_THAT(line(kArguments + " --arg u32:1"), HasSubstr("saxpy"));
  EXPECT_THAT(run_wm("ptx run " + source_path("examples/saxpy/saxpy.yaml --grid 1")).err, HasSubstr("itself"));
}

TEST(WmPtx, AFaultIsTheKernelsOwnAndExitsWithOne) {
  const Scratch scratch;
  scratch.write("spin.ptx", kSpin);
  const Ran ran = run_wm("ptx run " + scratch.path("spin.ptx") + " --grid 1 --block 32 --arg buf:x:64 --json " +
                         scratch.path("r.json"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("out of bounds"));
  EXPECT_THAT(ran.err, HasSubstr("spin.ptx:10"));
  EXPECT_THAT(ran.err, HasSubstr("'x'")) << "the nearest allocation";
  EXPECT_EQ(json::parse(scratch.read("r.json"))["items"][0]["passed"], false);
}

TEST(WmPtx, AKernelThatDoesNotEndIsStoppedWithItsWarpsPositions) {
  const Scratch scratch;
  scratch.write("spin.ptx", kSpin);
  const Ran ran =
      run_wm("ptx run " + scratch.path("spin.ptx") + " --grid 1 --block 64 --arg buf:x:68 --max-instructions 1000");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("not done after 1000 warp instructions"));
  EXPECT_THAT(ran.err, HasSubstr("warp 1"));
}

}  // namespace
}  // namespace wm::cli
