// wm sim as a user sees it: intervals, traces, and the messages for bad input.
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/shell.h"

namespace wm::cli {
namespace {

using Json = nlohmann::json;

TEST(Sim, IntervalsStandInTheJsonAndAddUp) {
  const Ran ran = run_wm(
      "sim --kernel sgemm --kernel lbm --size small --once --policy smk --stats --interval 5000 --json - --cache ''");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json run = Json::parse(ran.out);
  std::uint64_t cycles = 0;
  std::uint64_t instructions = 0;
  bool quota = false;
  for (const Json& i : run["intervals"]) {
    cycles += i["cycles"].get<std::uint64_t>();
    instructions += i["kernels"][1]["instructions"].get<std::uint64_t>();
    quota = quota || i["kernels"][0]["quota"].is_number();
  }
  EXPECT_EQ(cycles, run["cycles"]);
  EXPECT_EQ(instructions, run["kernels"][1]["instructions"]);
  EXPECT_TRUE(quota);
}

TEST(Sim, WithoutStatsThereAreNoIntervals) {
  const Ran ran = run_wm("sim --kernel vecadd --size small --json - --cache ''");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(Json::parse(ran.out).contains("intervals"));
}

TEST(Sim, TheTableHasARowAKernelAndInterval) {
  const Ran ran = run_wm("sim --kernel vecadd --size small --stats --interval 1000000 --cache ''");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out.rfind("from cycle  kernel", 0), 0U) << ran.out;
  EXPECT_NE(ran.out.find("\n         0  vecadd"), std::string::npos) << ran.out;
}

// Every block's first thread prints the block's number.
const char* const kPrinting = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[10] = {98, 108, 111, 99, 107, 32, 37, 117, 10, 0};
.visible .entry k() {
  .local .align 8 .b8 args[8];
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
  .param .b64 a; .param .b64 b; .param .b32 r;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p, %r0, 0;
  @%p ret;
  mov.u32 %r1, %ctaid.x;
  st.local.u32 [args], %r1;
  mov.u64 %d0, args;
  cvta.local.u64 %d0, %d0;
  mov.u64 %d1, text;
  cvta.global.u64 %d1, %d1;
  st.param.b64 [a], %d1;
  st.param.b64 [b], %d0;
  call (r), vprintf, (a, b);
  ret;
}
)";

TEST(Sim, PrintsWhatTheFirstRunOfAKernelPrintedForAnyNumberOfThreads) {
  const Scratch folder;
  folder.write("k.ptx", kPrinting);
  folder.write("k.yaml", "ptx: k.ptx\nentry: k\ngrid: 6\nblock: 64\n");
  const std::string common = "sim --kernel " + folder.path("k.yaml") + ":launches=3 --cache '' --threads ";
  const Ran one = run_wm(common + "1");
  ASSERT_EQ(one.code, 0) << one.err;
  std::string printed = one.out.substr(0, one.out.find("qos16 under"));
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 6) << one.out;
  for (int block = 0; block < 6; ++block)
    EXPECT_NE(printed.find("block " + std::to_string(block) + "\n"), std::string::npos) << one.out;
  EXPECT_EQ(Json::parse(run_wm(common + "2 --json -").out)["kernels"][0]["printed"], printed);
}

// `fill` writes 10 + the thread to *p.to for its p.count threads; `scale` multiplies by a constant variable.
const char* const kTwoKernels = R"(.version 8.0
.target sm_80
.address_size 64
.const .align 4 .u32 factor[2];
.visible .entry fill(.param .align 8 .b8 p[16]) {
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
  mov.u32 %r0, %tid.x;
  ld.param.u32 %r1, [p];
  setp.ge.u32 %p, %r0, %r1;
  @%p ret;
  ld.param.u64 %d0, [p+8];
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d1, %d1, %d0;
  add.u32 %r2, %r0, 10;
  st.global.u32 [%d1], %r2;
  ret;
}
.visible .entry scale(.param .u64 to) {
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %d0, [to];
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d1, %d1, %d0;
  ld.global.u32 %r1, [%d1];
  ld.const.u32 %r2, [factor+4];
  mul.lo.u32 %r1, %r1, %r2;
  st.global.u32 [%d1], %r1;
  ret;
}
)";
const char* const kTwoLaunches = R"(ptx: two.ptx
buffers:
  x: {type: u32, count: 4, content: zero, expect: {values: [90, 99, 108, 0]}}
variables:
  factor: {type: u32, count: 2, content: {values: [1, 3]}}
launches:
  - entry: fill
    grid: 1
    block: 32
    arguments: [{struct: [{u32: 3}, {buffer: x}]}]
  - {entry: scale, grid: 1, block: 4, repeat: 2, arguments: [{buffer: x}]}
)";

TEST(Sim, ADescriptionOfSeveralLaunchesRunsInTimeAndWithout) {
  const Scratch folder;
  folder.write("two.ptx", kTwoKernels);
  folder.write("two.yaml", kTwoLaunches);
  const std::string yaml = folder.path("two.yaml");
  EXPECT_EQ(run_wm("kernels check " + yaml).code, 0) << run_wm("kernels check " + yaml).out;
  EXPECT_NE(run_wm("ptx run " + yaml + " --dump x").out.find("x[0] 90 99 108 0"), std::string::npos);
  const Ran sim = run_wm("sim --kernel " + yaml + ":launches=2 --cache '' --dump x:s32:3 --json -");
  ASSERT_EQ(sim.code, 0) << sim.err;
  const Json kernel = Json::parse(sim.out)["kernels"][0];
  EXPECT_EQ(kernel["verified"], true);
  EXPECT_EQ(kernel["buffers"]["x"], (Json{90, 99, 108}));
  EXPECT_EQ(kernel["launches_done"], 6);
}

TEST(Sim, ADumpNeedsOneKernelThatEnds) {
  const Ran two = run_wm("sim --kernel vecadd --kernel vecadd --size small --cache '' --dump a");
  EXPECT_EQ(two.code, 2);
  EXPECT_NE(two.err.find("--dump needs a run of one kernel"), std::string::npos) << two.err;
  const Ran endless = run_wm("sim --kernel vecadd --size small --cycles 1000 --cache '' --dump a");
  EXPECT_EQ(endless.code, 2);
  EXPECT_NE(endless.err.find("--dump needs a kernel that ends"), std::string::npos) << endless.err;
}

TEST(Sim, ATraceIsWrittenWhereItWasAskedFor) {
  const Scratch folder;
  const Ran ran = run_wm("sim --kernel vecadd --size small --cache '' --trace " + folder.path("v.pftrace"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(folder.read("v.pftrace").find("SM 00"), std::string::npos);
}

TEST(Sim, ThePolicysDecisionsAreWrittenWhereAskedFor) {
  const Scratch folder;
  for (const std::string machine : {"cycle", "block"}) {
    const Ran ran = run_wm("sim --machine " + machine +
                           " --kernel vecadd --kernel fma --size small --cycles 3000 --cache '' "
                           "--policy spatial --decisions " +
                           folder.path(machine));
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(folder.read(machine).find("0 > started\n0 > k0 arrived\n0 > k1 arrived\n0 give sm 0-7 to k0, drain\n"),
              0U)
        << folder.read(machine);
  }
}

TEST(Sim, ATraceThatCannotBeWrittenIsAnErrorInOneLine) {
  const Ran ran = run_wm("sim --kernel vecadd --size small --cache '' --trace /nowhere/v.pftrace");
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("/nowhere/v.pftrace"), std::string::npos) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

}  // namespace
}  // namespace wm::cli
