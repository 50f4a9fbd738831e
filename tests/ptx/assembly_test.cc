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

TEST(Assembly, AnAtomicSumAtAnAddressThatAllLanesShareIsMadeByOneLane) {
  const auto atomic = [](const std::string& address, const std::string& rest) {
    return assembled(
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
        "add.s64 %rd3, %rd1, %rd2;\natom.global.add.u32 %r2, [" +
        address + "], " + rest)[4];
  };
  EXPECT_TRUE(atomic("%rd1", "%r1;\n").is_combined);
  EXPECT_FALSE(atomic("%rd3", "%r1;\n").is_combined) << "lanes have words of their own";
  EXPECT_FALSE(atomic("%rd1", "%r1;\nst.shared.u32 [s], %r2;\n").is_combined) << "each lane needs its own result";
  EXPECT_TRUE(atomic("%rd1", "1;\nst.shared.u32 [s], %r2;\n").is_combined);
  EXPECT_GT(atomic("%rd1", "1;\nst.shared.u32 [s], %r2;\n").added, atomic("%rd1", "1;\n").added);
}

TEST(Assembly, ABranchToTheEndIsAnExitAndKeepsItsInstruction) {
  const auto branch = [](const std::string& behind) {
    return assembled("mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra E;\nst.shared.u32 [s], %r1;\nE:\n" +
                     behind)[2];
  };
  EXPECT_FALSE(branch("").folded);
  EXPECT_TRUE(branch("st.shared.u32 [s+64], %r1;\n").folded);
}

TEST(Assembly, TheAddressOfASharedVariableTakesThreeInstructionsInEachBlock) {
  const auto out = assembled(
      "mov.u32 %r1, s;\nmov.u32 %r2, s;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra E;\nbar.sync 0;\nE:\nmov.u32 %r3, s;\n"
      "st.shared.u32 [%r3], %r1;\nst.shared.u32 [%r2], %r1;\n");
  EXPECT_EQ(out[0].added, 2 + 1) << "with the stack's";
  EXPECT_EQ(out[1].added, 1);
  EXPECT_EQ(out[5].added, 2);
  EXPECT_FALSE(out[5].folded);
}

TEST(Assembly, AShiftStaysWhereItsSumIsPartOfAnAddress) {
  const auto out = assembled(
      "mov.u32 %r1, %tid.x;\nmov.u32 %r3, s;\nshl.b32 %r2, %r1, 2;\nadd.s32 %r4, %r3, %r2;\n"
      "st.shared.u32 [%r4], %r1;\n");
  EXPECT_FALSE(out[2].folded);
  EXPECT_TRUE(out[3].folded);
}

TEST(Assembly, NeighbouringStoresWithOneGuardAreOneStore) {
  const auto second = [](const std::string& guard, const std::string& between) {
    return assembled(
        "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 3;\nmov.u32 %r3, s;\nadd.s32 %r4, %r3, %r2;\n"
        "setp.eq.u32 %p1, %r1, 3;\nsetp.eq.u32 %p2, %r1, 4;\n@%p1 st.shared.u32 [%r4], %r1;\n" +
        between + "@" + guard + " st.shared.u32 [%r4+4], %r1;\nbar.sync 0;\n")[between.empty() ? 7 : 8];
  };
  EXPECT_TRUE(second("%p1", "").folded);
  EXPECT_FALSE(second("%p2", "").folded);
  EXPECT_FALSE(second("!%p1", "").folded);
  EXPECT_FALSE(second("%p1", "ld.shared.u32 %r6, [s];\n").folded) << "a load between them sees only the first";
}

TEST(Assembly, PairsOfDoublesInSharedMemoryAreOneLoad) {
  const auto out = assembled(
      "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 4;\nmov.u32 %r3, s;\nadd.s32 %r4, %r3, %r2;\n"
      "ld.shared.u64 %rd1, [%r4];\nld.shared.u64 %rd2, [%r4+8];\nadd.s64 %rd3, %rd1, %rd2;\n"
      "st.shared.u64 [%r4], %rd3;\n");
  EXPECT_EQ(out[4].joined_words, 4);
  EXPECT_TRUE(out[5].folded);
}

TEST(Assembly, ABranchOutOfALoopSplitsTheLanesOutsideOfIt) {
  const auto out = assembled(
      "mov.u32 %r1, %tid.x;\nL:\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra E;\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p2, %r1, 9;\n@%p2 bra L;\nE:\nsetp.eq.u32 %p3, %r1, 5;\n@%p3 bra F;\nbar.sync 0;\nF:\n"
      "st.shared.u32 [s], %r1;\n");
  EXPECT_TRUE(out[2].leaves_loop);
  EXPECT_FALSE(out[8].leaves_loop);
  EXPECT_TRUE(out[8].parts_lanes);
}

TEST(Assembly, ExtensionsArePartOfSumsAndOfLoads) {
  const auto sign = [](const std::string& reader) {
    return assembled("ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\ncvt.s64.s32 %rd2, %r1;\n" + reader +
                     "st.global.u64 [%rd3], %rd1;\n")[2];
  };
  EXPECT_TRUE(sign("add.s64 %rd3, %rd1, %rd2;\n").folded);
  EXPECT_FALSE(sign("xor.b64 %rd3, %rd1, %rd2;\n").folded);
  const auto mask = [](const std::string& bits) {
    return assembled("ld.param.u64 %rd1, [p];\nld.global.u8 %r1, [%rd1];\nand.b32 %r2, %r1, " + bits +
                     ";\nst.shared.u32 [s], %r2;\n")[2];
  };
  EXPECT_TRUE(mask("255").folded);
  EXPECT_FALSE(mask("127").folded);
}

TEST(Assembly, LongConstantsAndHalvesOfWideValues) {
  const auto sum = [](const std::string& constant) {
    return assembled(".reg .f64 %fd<4>;\nld.param.f64 %fd1, [p];\nadd.f64 %fd2, %fd1, " + constant +
                     ";\nst.shared.f64 [s], %fd2;\n")[1];
  };
  EXPECT_EQ(sum("0d3FC3F7CED916872B").added, 2);
  EXPECT_EQ(sum("0d4010000000000000").added, 0);
  const auto mask = [](const std::string& bits) {
    return assembled("ld.param.u64 %rd1, [p];\nand.b64 %rd2, %rd1, " + bits + ";\nst.shared.u64 [s], %rd2;\n")[1];
  };
  EXPECT_TRUE(mask("0xffffffff").is_one_word);
  EXPECT_FALSE(mask("0x1ffffffff").is_one_word);
}

}  // namespace
}  // namespace wm::ptx
