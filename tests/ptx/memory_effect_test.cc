#include "ptx/memory_effect.h"

#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

Instruction instruction_of(const std::string& line) {
  const auto module = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.const .u32 c;\n.visible .entry k(.param .u32 a) {\n.reg .pred "
      "%p<4>; "
      ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;\nL:\n" +
          line + "\nret;\n}\n",
      "k.ptx");
  EXPECT_TRUE(module.ok()) << line << ": " << module.error().to_string();
  return module ? module->functions[0].body[0] : Instruction{};
}

// R reads, W writes, F is a fence, C reads what no kernel writes.
std::string effect_of(const std::string& line) {
  const MemoryEffect e = memory_effect(instruction_of(line));
  return std::string(e.reads ? "R" : "") + (e.writes ? "W" : "") + (e.fence ? "F" : "") + (e.constant ? "C" : "");
}

TEST(MemoryEffects, OfAccesses) {
  EXPECT_EQ(effect_of("ld.global.u32 %r1, [%rd1];"), "R");
  EXPECT_EQ(effect_of("st.global.u32 [%rd1], %r1;"), "W");
  EXPECT_EQ(effect_of("ld.global.nc.u32 %r1, [%rd1];"), "RC");
  EXPECT_EQ(effect_of("ld.const.u32 %r1, [c];"), "RC");
  EXPECT_EQ(effect_of("ld.param.u32 %r1, [a];"), "RC");
  EXPECT_EQ(effect_of("tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f1}, [%rd1, {%r1}];"), "RC");
  EXPECT_EQ(effect_of("suld.b.1d.b32.trap %r1, [%rd1, {%r2}];"), "R");
  EXPECT_EQ(effect_of("sust.b.1d.b32.trap [%rd1, {%r2}], %r1;"), "W");
  EXPECT_EQ(effect_of("add.s32 %r1, %r2, %r3;"), "");
}

TEST(MemoryEffects, OfOrdersAndAtomics) {
  EXPECT_EQ(effect_of("ld.volatile.global.u32 %r1, [%rd1];"), "RF");
  EXPECT_EQ(effect_of("ld.relaxed.gpu.global.u32 %r1, [%rd1];"), "RF");
  EXPECT_EQ(effect_of("ld.acquire.gpu.global.u32 %r1, [%rd1];"), "RF");
  EXPECT_EQ(effect_of("st.release.gpu.global.u32 [%rd1], %r1;"), "WF");
  EXPECT_EQ(effect_of("atom.shared.add.u32 %r1, [%r2], %r3;"), "RWF");
  EXPECT_EQ(memory_effect(instruction_of("atom.shared.add.u32 %r1, [%r2], %r3;")).space, Space::generic)
      << "no access of any space is moved across it";
  EXPECT_EQ(effect_of("bar.sync 0;"), "F");
}

TEST(MemoryEffects, ClocksAreRead) {
  for (const char* line :
       {"mov.u32 %r1, %clock;", "mov.u32 %r1, %clock_hi;", "mov.u64 %rd1, %clock64;", "mov.u64 %rd1, %globaltimer;",
        "mov.u32 %r1, %globaltimer_lo;", "mov.u32 %r1, %globaltimer_hi;"})
    EXPECT_TRUE(reads_clock(instruction_of(line))) << line;
  for (const char* line : {"mov.u32 %r1, %tid.x;", "mov.u32 %r1, %r2;", "mov.u32 %r1, 0;"})
    EXPECT_FALSE(reads_clock(instruction_of(line))) << line;
}

TEST(MemoryEffects, BranchesAndReturnsEndABlock) {
  for (const char* line : {"bra L;", "ret;", "exit;", "trap;"}) EXPECT_TRUE(ends_block(instruction_of(line))) << line;
  for (const char* line : {"bar.sync 0;", "add.s32 %r1, %r2, %r3;"})
    EXPECT_FALSE(ends_block(instruction_of(line))) << line;
}

}  // namespace
}  // namespace wm::ptx
