#include <algorithm>
#include <gtest/gtest.h>

#include "ptx/analysis.h"
#include "ptx/parse.h"

namespace wm::ptx {
namespace {

Module parsed(const std::string& text) {
  auto module = parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .pred %p<8>;\n"
      ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n" +
      text + "\n}\n");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return *std::move(module);
}

std::vector<std::string> names(const Function& function, const std::vector<std::uint32_t>& registers) {
  std::vector<std::string> result;
  for (const std::uint32_t r : registers) result.push_back(function.registers[r].name);
  std::sort(result.begin(), result.end());
  return result;
}

using Names = std::vector<std::string>;

TEST(Liveness, AValueLivesFromItsWriteToItsLastRead) {
  const Module m = parsed("mov.u32 %r1, 1; mov.u32 %r2, 2; bra L; L: st.global.u32 [%rd1], %r1; ret;");
  const Function& f = m.functions[0];
  const Liveness live = liveness(f, control_flow(f));
  EXPECT_EQ(names(f, live.live_in[0]), Names({"%rd1"}));
  EXPECT_EQ(names(f, live.live_out[0]), Names({"%r1", "%rd1"}));
  EXPECT_EQ(names(f, live.live_out[1]), Names());
}

TEST(Liveness, ALoopKeepsWhatItsNextTurnReads) {
  const Module m = parsed(
      "mov.u32 %r1, 0; mov.u32 %r2, 9; L: add.s32 %r1, %r1, %r2; setp.lt.s32 %p1, %r1, 100; @%p1 bra L; "
      "st.global.u32 [%rd1], %r1; ret;");
  const Function& f = m.functions[0];
  const Liveness live = liveness(f, control_flow(f));
  EXPECT_EQ(names(f, live.live_in[1]), Names({"%r1", "%r2", "%rd1"}));
  EXPECT_EQ(names(f, live.live_out[1]), Names({"%r1", "%r2", "%rd1"}));
}

TEST(Liveness, AGuardedWriteLeavesTheOldValueAlive) {
  const Module m = parsed("@%p1 mov.u32 %r1, 1; bra L; L: st.global.u32 [%rd1], %r1; ret;");
  const Function& f = m.functions[0];
  EXPECT_EQ(names(f, liveness(f, control_flow(f)).live_in[0]), Names({"%p1", "%r1", "%rd1"}));
}

TEST(StaticCounts, CountsByUnit) {
  const Module m = parsed(
      ".reg .f32 %f<4>; .reg .f64 %fd<4>; mov.u32 %r1, %tid.x; add.s32 %r1, %r1, 1; fma.rn.f32 %f1, %f1, %f2, %f3;"
      "add.f64 %fd1, %fd2, %fd3; ex2.approx.f32 %f1, %f2; cvt.rn.f32.s32 %f1, %r1; ld.global.f32 %f1, [%rd1];"
      "st.global.f32 [%rd1], %f1; atom.global.add.u32 %r1, [%rd1], 1; red.global.add.u32 [%rd1], 1; bar.sync 0;"
      "setp.lt.f32 %p1, %f1, %f2; @%p1 bra L; L: ret;");
  const StaticCounts c = static_counts(m.functions[0]);
  EXPECT_EQ(c.instructions, 14U);
  EXPECT_EQ(c.moves, 1U);
  EXPECT_EQ(c.integer, 1U);
  EXPECT_EQ(c.fp32, 2U);
  EXPECT_EQ(c.fp64, 1U);
  EXPECT_EQ(c.special_function, 1U);
  EXPECT_EQ(c.conversions, 1U);
  EXPECT_EQ(c.loads, 1U);
  EXPECT_EQ(c.stores, 1U);
  EXPECT_EQ(c.atomics, 2U);
  EXPECT_EQ(c.barriers, 1U);
  EXPECT_EQ(c.branches, 2U);
}

}  // namespace
}  // namespace wm::ptx
