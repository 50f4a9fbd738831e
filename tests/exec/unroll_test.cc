// Unrolled loops compute what the loops did: every count of turns, limits at the ends of the types, threads that leave
// at different turns, values that live on behind the loop.
#include "ptx/unroll.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/run.h"
#include "ptx/parse.h"
#include "ptx/schedule.h"

namespace wm::exec {
namespace {

constexpr std::uint32_t kThreads = 32;

// Each thread runs a loop that mixes its counter into %r4 for at most 50 turns, then stores what it has. %r1 is the
// counter, %r2 the limit; %r8 counts turns.
std::string program(const std::string& start, const std::string& type, std::int64_t step, const std::string& compare) {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd2, %r0, 1024;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r4, 17;
  mov.u32 %r8, 0;
  {}
L:
  mad.lo.u32 %r5, %r1, 31, %r4;
  xor.b32 %r4, %r5, %r8;
  st.global.u32 [%rd3], %r5;
  add.s64 %rd3, %rd3, 4;
  mad.lo.u32 %r4, %r8, 7, %r4;
  add.s32 %r8, %r8, 1;
  add.{} %r1, %r1, {};
  add.u32 %r6, %r1, %r8;
  setp.{}.{} %p1, %r1, %r2;
  @%p1 bra L;
  add.s64 %rd4, %rd1, %rd2;
  st.global.u32 [%rd4+1000], %r4;
  st.global.u32 [%rd4+1004], %r5;
  st.global.u32 [%rd4+1008], %r6;
  st.global.u32 [%rd4+1012], %r8;
  st.global.u32 [%rd4+1016], %r1;
  ret;
}}
)",
                     start, type, step, compare, type);
}

std::vector<std::byte> run(const ptx::Module& module) {
  gpu::Application app;
  const auto out = app.add("out", std::vector<std::uint32_t>(kThreads * 256, 0));
  app.upload(out);
  app.launch({"k", {1, 1, 1}, {kThreads, 1, 1}, {gpu::buffer(out)}, 0});
  const auto ran = run_application(module, app, {}, "k.ptx");
  EXPECT_TRUE(ran.ok()) << ran.error().to_string();
  return ran ? ran->buffers[0] : std::vector<std::byte>{};
}

void expect_same(const std::string& text) {
  const auto module = ptx::parse(text, "k.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string() << text;
  ptx::Module changed = *module;
  for (ptx::Function& f : changed.functions) {
    const ptx::Function four_turns = ptx::unrolled(f);
    EXPECT_GT(four_turns.body.size(), f.body.size()) << text;
    f = ptx::in_latency_order(four_turns);
  }
  EXPECT_EQ(run(changed), run(*module)) << text;
}

TEST(Unroll, EveryCountOfTurns) {
  for (int turns = 1; turns <= 14; ++turns) {
    for (const int step : {1, 3}) {
      expect_same(program(fmt::format("mov.u32 %r1, -5; mov.u32 %r2, {};", -5 + step * turns), "s32", step, "lt"));
      expect_same(program(fmt::format("mov.u32 %r1, {}; mov.u32 %r2, 0;", step * turns), "s32", -step, "ne"));
      expect_same(program(fmt::format("mov.u32 %r1, 9; mov.u32 %r2, {};", 9 + step * turns), "u32", step, "ne"));
    }
  }
}

TEST(Unroll, EveryCountOfTurnsUpToALimitThatIsReached) {
  for (int turns = 1; turns <= 14; ++turns) {
    for (const int step : {1, 3}) {
      const int last = step * (turns - 1);
      expect_same(program(fmt::format("mov.u32 %r1, -5; mov.u32 %r2, {};", -5 + last), "s32", step, "le"));
      expect_same(program(fmt::format("mov.u32 %r1, 0; mov.u32 %r2, {};", last), "u32", step, "le"));
      expect_same(program(fmt::format("mov.u32 %r1, {}; mov.u32 %r2, -7;", last - 7), "s32", -step, "ge"));
      expect_same(program(fmt::format("mov.u32 %r1, {}; mov.u32 %r2, 4;", last + 5), "u32", -step, "gt"));
      expect_same(program(fmt::format("mov.u32 %r1, {}; mov.u32 %r2, -9;", last - 8), "s32", -step, "gt"));
    }
  }
}

TEST(Unroll, ALoopThatIsLeftAtOnceHasOneTurn) {
  expect_same(program("mov.u32 %r1, 100; mov.u32 %r2, 10;", "s32", 1, "lt"));
  expect_same(program("mov.u32 %r1, 2147483600; mov.u32 %r2, -2147483648;", "s32", 5, "lt"));
}

TEST(Unroll, LimitsAtTheEndsOfTheType) {
  expect_same(program("mov.u32 %r1, 2147483610; mov.u32 %r2, 2147483640;", "s32", 2, "lt"));
  expect_same(program("mov.u32 %r1, -2147483648; mov.u32 %r2, -2147483640;", "s32", 3, "lt"));
  expect_same(program("mov.u32 %r1, -2147483648; mov.u32 %r2, -2147483647;", "s32", 3, "lt"));
  expect_same(program("mov.u32 %r1, 4294967200; mov.u32 %r2, 4294967290;", "u32", 4, "lt"));
  expect_same(program("mov.u32 %r1, 0; mov.u32 %r2, 2;", "u32", 4, "lt"));
  expect_same(program("mov.u32 %r1, 4294967286; mov.u32 %r2, 6;", "u32", 1, "ne"));  // wraps around to its limit
  expect_same(program("mov.u32 %r1, -2147483640; mov.u32 %r2, 2147483640;", "s32", -1, "ne"));
  expect_same(program("mov.u32 %r1, 2147483610; mov.u32 %r2, 2147483646;", "s32", 1, "le"));
  expect_same(program("mov.u32 %r1, -2147483648; mov.u32 %r2, -2147483648;", "s32", 1, "le"));
  expect_same(program("mov.u32 %r1, 0; mov.u32 %r2, 0;", "u32", 1, "le"));
  expect_same(program("mov.u32 %r1, 0; mov.u32 %r2, 2;", "u32", 1, "le"));
  expect_same(program("mov.u32 %r1, 4294967250; mov.u32 %r2, 4294967293;", "u32", 1, "le"));
  expect_same(program("mov.u32 %r1, 4294967295; mov.u32 %r2, 4294967294;", "u32", -1, "ge"));
  expect_same(program("mov.u32 %r1, 40; mov.u32 %r2, 1;", "u32", -1, "ge"));
  expect_same(program("mov.u32 %r1, -2147483620; mov.u32 %r2, -2147483647;", "s32", -1, "ge"));
}

TEST(Unroll, ThreadsLeaveAtDifferentTurns) {
  expect_same(program("mov.u32 %r1, 0; mov.u32 %r2, %r0;", "s32", 1, "lt"));
  expect_same(program("mul.lo.u32 %r1, %r0, 3; mov.u32 %r2, 60;", "s32", 2, "lt"));
}

}  // namespace
}  // namespace wm::exec
