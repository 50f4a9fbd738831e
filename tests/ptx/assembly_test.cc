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
  EXPECT_TRUE(out[2].is_split_before);
  EXPECT_FALSE(out[8].is_split_before);
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

// A loop of %r9 turns around these lines.
std::string turns(const std::string& before, const std::string& body, const std::string& behind) {
  return "mov.u32 %r1, %tid.x;\nmov.u32 %r9, %ctaid.x;\n" + before + "L:\n" + body +
         "add.s32 %r9, %r9, -1;\nsetp.ne.s32 %p7, %r9, 0;\n@%p7 bra L;\n" + behind;
}

TEST(Assembly, TheReciprocalOfADivisorThatALoopKeepsIsComputedBeforeIt) {
  const std::string divisor = "or.b32 %r2, %r9, 1;\n";
  const auto kept = assembled(turns(divisor, "rem.u32 %r1, %r1, %r2;\n", "st.shared.u32 [s], %r1;\n"));
  EXPECT_TRUE(kept[3].has_reciprocal);
  EXPECT_EQ(kept[0].added, 11 + 1) << "with the stack's";
  const auto kept_signed = assembled(turns(divisor, "rem.s32 %r1, %r1, %r2;\n", "st.shared.u32 [s], %r1;\n"));
  EXPECT_EQ(kept_signed[0].added, 15 + 1);
  const auto changed = assembled(turns("", divisor + "rem.u32 %r1, %r1, %r2;\n", "st.shared.u32 [s], %r1;\n"));
  EXPECT_FALSE(changed[3].has_reciprocal);
  EXPECT_EQ(changed[0].added, 1);
  const auto skipped =
      assembled(turns(divisor, "setp.eq.u32 %p1, %r9, 3;\n@%p1 bra M;\nrem.u32 %r1, %r1, %r2;\nbar.sync 0;\nM:\n",
                      "st.shared.u32 [s], %r1;\n"));
  EXPECT_FALSE(skipped[5].has_reciprocal) << "not every turn divides";
}

TEST(Assembly, TwoDivisionsInABlockShareAReciprocal) {
  const auto out = assembled(
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nrem.u32 %r3, %r1, %r2;\nrem.u32 %r4, %r3, %r2;\n"
      "rem.s32 %r5, %r3, %r2;\nst.shared.v2.u32 [s], {%r4, %r5};\n");
  EXPECT_FALSE(out[2].has_reciprocal);
  EXPECT_TRUE(out[3].has_reciprocal);
  EXPECT_FALSE(out[4].has_reciprocal) << "that of the divisor's absolute value";
}

TEST(Assembly, AScalarParameterIsReadInTheLastBlockThatAllUsesPass) {
  const auto out = assembled(
      "ld.param.u32 %r2, [p];\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra E;\nbar.sync 0;\n"
      "st.shared.u32 [s], %r2;\nsetp.eq.u32 %p2, %r1, 4;\n@%p2 bra E;\nbar.sync 0;\nst.shared.u32 [s+4], %r2;\n"
      "E:\nbar.sync 0;\n");
  EXPECT_TRUE(out[0].folded);
  EXPECT_EQ(out[4].added, 1);
  EXPECT_EQ(out[8].added, 0);
  const auto first = assembled("ld.param.u32 %r2, [p];\nst.shared.u32 [s], %r2;\n");
  EXPECT_FALSE(first[0].folded);
  EXPECT_EQ(first[1].added, 0);
}

TEST(Assembly, APointerIsReadInEachTurnOnlyIfSeveralAddressesNeedIt) {
  const std::string one = "mul.wide.u32 %rd3, %r9, 4;\nadd.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], %r1;\n";
  const std::string other = "mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd2, %rd5;\nst.global.u32 [%rd6+64], %r9;\n";
  const std::string pointer = "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n";
  const auto added = [](const std::vector<AssembledInstruction>& out, std::size_t from, std::size_t to) {
    int sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += out[i].folded ? 0 : out[i].added;
    return sum;
  };
  EXPECT_EQ(added(assembled(turns(pointer, one, "")), 4, 10), 0);
  EXPECT_EQ(added(assembled(turns(pointer, one + other, "")), 4, 13), 1);
}

TEST(Assembly, TheAddressOfASharedVariableIsComputedBeforeTheLoopThatTakesIt) {
  const auto out = assembled(turns("bar.sync 0;\n", "mov.u32 %r3, s;\nst.shared.u32 [%r3+4], %r9;\n", ""));
  EXPECT_TRUE(out[3].folded);
  EXPECT_EQ(out[0].added, 3 + 1) << "with the stack's";
}

TEST(Assembly, ASumIsPartOfTheMinimumThatReadsIt) {
  const auto sum = [](const std::string& more) {
    return assembled("mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 5;\nmin.u32 %r3, %r2, %r1;\nst.shared.u32 [s], %r3;\n" +
                     more)[1];
  };
  EXPECT_TRUE(sum("").folded);
  EXPECT_FALSE(sum("st.shared.u32 [s+4], %r2;\n").folded);
}

TEST(Assembly, LogicOfHalfWordsAndItsTestAreOneInstruction) {
  const auto out = assembled(
      ".reg .b16 %h<8>;\nmov.u32 %r1, %tid.x;\ncvt.u16.u32 %h1, %r1;\nxor.b16 %h2, %h1, 9;\nand.b16 %h3, %h2, 3;\n"
      "setp.ne.s16 %p1, %h3, 0;\n@%p1 st.shared.u32 [s], %r1;\n");
  EXPECT_TRUE(out[2].folded);
  EXPECT_TRUE(out[3].folded);
  EXPECT_FALSE(out[4].folded);
}

TEST(Assembly, BranchesThatMeetInOnePlaceShareASplit) {
  const auto out = assembled(
      "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra A;\nsetp.eq.u32 %p2, %r1, 4;\n@%p2 bra B;\n"
      "bar.sync 1;\nbra E;\nA:\nbar.sync 2;\nbra E;\nB:\nbar.sync 3;\nE:\nbar.sync 0;\nsetp.eq.u32 %p3, %r1, 5;\n"
      "@%p3 bra F;\nbar.sync 4;\nF:\nbar.sync 0;\n");
  EXPECT_TRUE(out[2].parts_lanes);
  EXPECT_FALSE(out[2].is_split_before);
  EXPECT_TRUE(out[4].parts_lanes);
  EXPECT_TRUE(out[4].is_split_before);
  EXPECT_FALSE(out[12].is_split_before) << "lanes have met since";
}

TEST(Assembly, OneJumpAheadToAPlaceFallsThroughUnlessABlockLiesBeforeIt) {
  const auto jumps = [](const std::string& last) {
    const auto out = assembled(
        "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra A;\nbar.sync 1;\nbra E;\nA:\nbar.sync 2;\n"
        "setp.eq.u32 %p2, %r1, 4;\n@%p2 bra B;\nbar.sync 3;\nbra E;\nB:\nbar.sync 4;\n" +
        last + "E:\nbar.sync 0;\n");
    return std::pair(out[4].folded, out[9].folded);
  };
  EXPECT_EQ(jumps(""), std::pair(false, false));
  EXPECT_EQ(jumps("exit;\n"), std::pair(true, false));
}

TEST(Assembly, ABlockThatOnlyJumpsIsPartOfTheBranchBeforeIt) {
  const auto out = assembled(
      "mov.u32 %r1, %tid.x;\nL:\nbar.sync 1;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra E;\nbra L;\nE:\nbar.sync 0;\n");
  EXPECT_TRUE(out[4].folded);
}

TEST(Assembly, PredicatesAreCombinedByAComparisonThatNothingElseReads) {
  const auto combined = [](const std::string& more) {
    return assembled(
        "mov.u32 %r1, %tid.x;\nsetp.lt.s32 %p1, %r1, 3;\nsetp.gt.s32 %p2, %r1, 9;\nor.pred %p3, %p1, %p2;\n"
        "@%p3 st.shared.u32 [s], %r1;\n" +
        more)[3];
  };
  EXPECT_TRUE(combined("@%p1 st.shared.u32 [s+64], %r1;\n").folded);
  EXPECT_FALSE(combined("@%p1 st.shared.u32 [s+64], %r1;\n@%p2 st.shared.u32 [s+96], %r1;\n").folded);
}

TEST(Assembly, LogicOfThreeInputsIsOneInstruction) {
  const auto majority = [](const std::string& last) {
    const auto out = assembled(
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\nmov.u32 %r8, %ntid.x;\nand.b32 %r4, %r1, "
        "%r2;\n"
        "and.b32 %r5, %r1, %r3;\nxor.b32 %r6, %r4, %r5;\nand.b32 %r7, %r2, " +
        last + ";\nxor.b32 %r9, %r6, %r7;\nst.shared.u32 [s], %r9;\n");
    int instructions = 0;
    for (std::size_t i = 4; i < 9; ++i) instructions += out[i].folded ? 0 : 1;
    return instructions;
  };
  EXPECT_EQ(majority("%r3"), 1);
  EXPECT_EQ(majority("%r8"), 2) << "of four inputs";
}

TEST(Assembly, AShiftIsPartOfTheUnionWithWhatLiesBelowIt) {
  const auto shift = [](const std::string& mask) {
    return assembled("mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nand.b32 %r3, %r1, " + mask +
                     ";\nshl.b32 %r4, %r2, 5;\nor.b32 %r5, %r4, %r3;\nst.shared.v2.u32 [s], {%r5, %r3};\n")[3];
  };
  EXPECT_TRUE(shift("31").folded);
  EXPECT_FALSE(shift("63").folded);
}

TEST(Assembly, TheDescriptorOfGlobalMemoryIsReadBeforeItsFirstAccess) {
  const auto out = assembled(
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra E;\nbar.sync 1;\n"
      "st.global.u32 [%rd1], %r1;\nE:\nbar.sync 0;\n");
  EXPECT_EQ(out[1].added, 0);
  EXPECT_EQ(out[4].added, 2) << "with the pointer's";
}

TEST(Assembly, TheSineAndTheCosineOfOneValueScaleItOnce) {
  const auto second = [](const std::string& argument) {
    return assembled("ld.param.f32 %f1, [p];\nadd.f32 %f2, %f1, %f1;\nsin.approx.f32 %f3, %f1;\ncos.approx.f32 %f4, " +
                     argument + ";\nst.shared.v2.f32 [s], {%f3, %f4};\n")[3];
  };
  EXPECT_TRUE(second("%f1").has_range);
  EXPECT_FALSE(second("%f2").has_range);
}

TEST(Assembly, ArithmeticOfHalfWordsExtendsItsOperands) {
  const auto out = assembled(
      ".reg .b16 %h<8>;\nld.param.u64 %rd1, [p];\nld.global.u16 %h1, [%rd1];\nld.global.u16 %h2, [%rd1+2];\n"
      "sub.s16 %h3, %h1, %h2;\nmul.lo.s16 %h4, %h3, 10;\nadd.s16 %h5, %h4, 1;\ncvt.u32.u16 %r1, %h5;\n"
      "cvt.u32.u16 %r2, %h1;\nshr.u16 %h6, %h1, 3;\nshr.u16 %h7, %h4, 3;\nst.shared.v2.u32 [s], {%r1, %r2};\n"
      "st.shared.v2.u16 [s+8], {%h6, %h7};\n");
  EXPECT_EQ(out[3].added, 2) << "a negation and an extension";
  EXPECT_EQ(out[4].added, 1);
  EXPECT_EQ(out[5].added, 0);
  EXPECT_FALSE(out[6].folded) << "the upper half of a sum is not zero";
  EXPECT_TRUE(out[7].folded) << "that of a loaded half-word is";
  EXPECT_EQ(out[8].added, 0);
  EXPECT_EQ(out[9].added, 1);
}

TEST(Assembly, ACopyOfAValueThatIsReadLaterIsAnInstruction) {
  const auto copy = [](const std::string& behind) {
    return assembled(turns("mov.u32 %r2, %r1;\n", "add.s32 %r2, %r2, %r2;\n", "st.shared.u32 [s], %r2;\n" + behind))[2];
  };
  EXPECT_TRUE(copy("").folded);
  EXPECT_FALSE(copy("st.shared.u32 [s+4], %r1;\n").folded);
  EXPECT_EQ(copy("st.shared.u32 [s+4], %r1;\n").added, 0);
}

// A word becomes a half-word and a word again: a mask, unless the word had no more than sixteen bits.
TEST(Assembly, TheUpperHalfIsClearedUnlessItIsZero) {
  const auto is_renaming = [](const std::string& word) {
    return assembled(".reg .b16 %h<4>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r4, %tid.y;\n" + word +
                     "cvt.u16.u32 %h1, %r2;\ncvt.u32.u16 %r3, %h1;\nst.shared.u32 [s], %r3;\n")[4]
        .folded;
  };
  EXPECT_TRUE(is_renaming("shr.u32 %r2, %r1, 16;\n"));
  EXPECT_FALSE(is_renaming("shr.u32 %r2, %r1, 15;\n"));
  EXPECT_FALSE(is_renaming("shr.s32 %r2, %r1, 16;\n"));
  EXPECT_FALSE(is_renaming("shr.u32 %r2, %r1, %r4;\n"));
  EXPECT_TRUE(is_renaming("and.b32 %r2, %r1, 65535;\n"));
  EXPECT_FALSE(is_renaming("and.b32 %r2, %r1, 65536;\n"));
  EXPECT_FALSE(is_renaming("and.b32 %r2, %r1, %r4;\n"));
  EXPECT_FALSE(is_renaming("or.b32 %r2, %r1, 16;\n"));
  EXPECT_FALSE(is_renaming("add.s32 %r2, %r1, 16;\n"));
}

TEST(Assembly, AProductOfTwoLongFactorsTakesOneMore) {
  const auto added = [](const std::string& product) {
    return assembled(
               "ld.shared.u64 %rd1, [s];\nld.shared.u64 %rd2, [s+8];\nmov.u32 %r1, %tid.x;\ncvt.u64.u32 %rd4, %r1;\n" +
               product + "st.shared.u64 [s+16], %rd3;\n")[4]
        .added;
  };
  EXPECT_EQ(added("mul.lo.s64 %rd3, %rd1, %rd2;\n"), 1);
  EXPECT_EQ(added("mad.lo.s64 %rd3, %rd1, %rd2, %rd1;\n"), 1);
  EXPECT_EQ(added("mul.lo.s64 %rd3, %rd1, 4294967295;\n"), 0);
  EXPECT_EQ(added("mul.lo.s64 %rd3, %rd1, 4294967296;\n"), 1);
  EXPECT_EQ(added("mul.lo.s64 %rd3, %rd1, %rd4;\n"), 0);
  EXPECT_EQ(added("mul.lo.s64 %rd3, %rd4, %rd1;\n"), 0);
  EXPECT_EQ(added("mul.hi.s64 %rd3, %rd1, %rd2;\n"), 0);
  EXPECT_EQ(added("add.s64 %rd3, %rd1, %rd2;\n"), 0);
}

TEST(Assembly, AMaskMakesAComparisonOfHalfWordsSimple) {
  const auto added = [](const std::string& mask) {
    return assembled(".reg .b16 %h<4>;\nld.shared.u16 %h1, [s];\nld.shared.u16 %h3, [s+2];\n" + mask +
                     "setp.lt.s16 %p1, %h2, %h3;\n@%p1 st.shared.u16 [s+4], %h3;\n")[3]
        .added;
  };
  EXPECT_EQ(added("and.b16 %h2, %h1, 32767;\n"), 0);
  EXPECT_EQ(added("and.b16 %h2, %h1, 32768;\n"), 1);
  EXPECT_EQ(added("and.b16 %h2, %h1, %h3;\n"), 1);
  EXPECT_EQ(added("or.b16 %h2, %h1, 5;\n"), 1);
}

TEST(Assembly, AtomicsThatAddAConstantOrWhoseResultIsUnused) {
  const auto atomic = [](const std::string& line, const std::string& use = "") {
    return assembled("mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.s32 %r4, %r3, %r2;\n" + line +
                     use)[4];
  };
  EXPECT_TRUE(atomic("atom.shared.add.u32 %r5, [%r4], 1;\n").is_increment);
  EXPECT_FALSE(atomic("atom.shared.add.u32 %r5, [%r4], %r1;\n").is_increment);
  EXPECT_TRUE(atomic("atom.shared.add.u32 %r5, [%r4], 1;\n").is_unused);
  EXPECT_FALSE(atomic("atom.shared.add.u32 %r5, [%r4], 1;\n", "st.shared.u32 [s], %r5;\n").is_unused);
}

// The loads' registers have one definition, and nothing but the conversion of a byte or half-word is part of the load.
TEST(Assembly, ConversionsOfLoadedValues) {
  const auto is_folded = [](const std::string& load, const std::string& conversion) {
    return assembled(".reg .b16 %h<4>;\n" + load + conversion + "st.shared.u32 [s+64], %r2;\n")[1].folded;
  };
  EXPECT_TRUE(is_folded("ld.shared.s8 %r1, [s];\n", "cvt.s32.s8 %r2, %r1;\n"));
  EXPECT_TRUE(is_folded("ld.shared.s16 %h1, [s];\n", "cvt.s32.s16 %r2, %h1;\n"));
  EXPECT_FALSE(is_folded("ld.shared.u32 %r1, [s];\n", "cvt.s32.s16 %r2, %r1;\n"));
  EXPECT_FALSE(is_folded("ld.shared.s16 %h1, [s];\n", "cvt.rn.f32.s16 %r2, %h1;\n"));
}

TEST(Assembly, ABodyOfWideArithmeticIsTooLongForAPredicate) {
  const auto branch = [](const std::string& type, int sums) {
    std::string body = "ld.param.u64 %rd1, [p];\ncvt.u32.u64 %r2, %rd1;\nmov.u32 %r1, %tid.x;\n";
    body += "setp.eq.u32 %p1, %r1, 3;\n@%p1 bra E;\n";
    const std::string r = type == "b64" ? "%rd1" : "%r2";
    for (int i = 0; i < sums; ++i) body += "xor." + type + " " + r + ", " + r + ", -" + std::to_string(7 + i) + ";\n";
    return assembled(body + "E:\nst.shared." + type + " [s], " + r + ";\n")[4].folded;
  };
  EXPECT_TRUE(branch("b64", 3));
  EXPECT_FALSE(branch("b64", 4)) << "eight instructions";
  EXPECT_TRUE(branch("b32", 4));
}

// A signed division by two: the sign is shifted and added by one instruction.
TEST(Assembly, AShiftToTheRightIsPartOfTheSumThatReadsIt) {
  const auto shift = [](const std::string& type) {
    return assembled("mov.u32 %r1, %tid.x;\nshr." + type +
                     " %r2, %r1, 31;\nadd.s32 %r3, %r1, %r2;\nst.shared.u32 [s], %r3;\n")[1]
        .folded;
  };
  EXPECT_TRUE(shift("u32"));
  EXPECT_FALSE(shift("s32"));
}

TEST(Assembly, AProductThatOnlySumsReadIsPartOfEach) {
  const std::string sums =
      "mov.u32 %r1, %tid.x;\nmul.lo.s32 %r2, %r1, %r1;\nadd.s32 %r3, %r2, 5;\nadd.s32 %r4, %r2, %r1;\n"
      "st.shared.v2.u32 [s], {%r3, %r4};\n";
  EXPECT_TRUE(assembled(sums)[1].folded);
  EXPECT_FALSE(assembled(sums + "st.shared.u32 [s+8], %r2;\n")[1].folded);
}

TEST(Assembly, AChoiceOfAnOldValueIsAPredicateOfTheSumBeforeIt) {
  const auto choice = [](const std::string& old) {
    return assembled(
               "mov.u32 %r1, %tid.x;\nmov.u32 %r5, 7;\nA:\nsetp.eq.u32 %p1, %r1, 3;\nadd.s32 %r2, %r1, 9;\n"
               "selp.b32 %r5, %r2, " +
               old + ", %p1;\nsetp.lt.u32 %p2, %r5, 900;\n@%p2 bra A;\nst.shared.u32 [s], %r5;\n")[4]
        .folded;
  };
  EXPECT_TRUE(choice("%r5"));
  EXPECT_FALSE(choice("%r1"));
}

}  // namespace
}  // namespace wm::ptx
