// The instructions that an assembler merges, predicates or adds.
#include "ptx/assembly.h"

#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

std::vector<AssembledInstruction> assembled(const std::string& body) {
  const auto module = parse(
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".shared .align 16 .b8 s[4096];\n.reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n.reg .f32 %f<16>;\n" +
      body + "ret;\n}\n");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return assemble(module->functions[0]);
}

TEST(Assembly, TheFirstOfTwoSumsIsFoldedIfNothingElseReadsIt) {
  const std::string sums = "mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, %r1;\nadd.s32 %r3, %r2, %r1;\n";
  EXPECT_TRUE(assembled(sums + "st.shared.u32 [s], %r3;\n")[1].folded);
  EXPECT_FALSE(assembled(sums + "st.shared.u32 [s], %r3;\nst.shared.u32 [s+4], %r2;\n")[1].folded);
}

TEST(Assembly, AShortBodyBehindABranchIsPredicatedAndALongOneIsNot) {
  const auto branch = [](int stores) {
    std::string body = "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra E;\n";
    for (int i = 0; i < stores; ++i) body += "st.shared.u32 [s+" + std::to_string(4 * i) + "], %r1;\n";
    return assembled(body + "E:\nst.shared.u32 [s+64], %r1;\n")[2];
  };
  EXPECT_TRUE(branch(7).folded);
  EXPECT_FALSE(branch(8).folded);
  EXPECT_TRUE(branch(8).parts_lanes);
}

TEST(Assembly, AlignedNeighboursInSharedMemoryAreOneLoad) {
  const auto loads = [](int shift) {
    return assembled("mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, " + std::to_string(shift) +
                     ";\nmov.u32 %r3, s;\nadd.s32 %r4, %r3, %r2;\nld.shared.u32 %r5, [%r4];\n"
                     "ld.shared.u32 %r6, [%r4+4];\nadd.s32 %r7, %r5, %r6;\nst.shared.u32 [%r4], %r7;\n");
  };
  EXPECT_TRUE(loads(3)[5].folded);
  EXPECT_EQ(loads(3)[4].joined_words, 2);
  EXPECT_FALSE(loads(2)[5].folded) << "eight bytes from an address of four";
}

TEST(Assembly, AWideProductIsPartOfTheSumsThatReadIt) {
  const auto out = assembled(
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "st.global.u32 [%rd3], %r1;\n");
  EXPECT_TRUE(out[2].folded);
  EXPECT_TRUE(out[3].is_wide_product);
  EXPECT_EQ(out[0].added, 2) << "the stack and the memory descriptor";
}

// nvcc writes the constant of a high half into a register and that of the low half as an immediate.
TEST(Assembly, BothHalvesOfAProductAreOneInstruction) {
  const auto halves = [](const std::string& factor) {
    return assembled(
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, -845247145;\nmul.hi.u32 %r3, %r2, %r1;\nmul.lo.s32 %r4, %r1, " + factor +
        ";\nst.shared.v2.u32 [s], {%r3, %r4};\n")[3];
  };
  EXPECT_TRUE(halves("-845247145").folded);
  EXPECT_TRUE(halves("%r2").folded);
  EXPECT_FALSE(halves("-845247144").folded);
}

}  // namespace
}  // namespace wm::ptx
