#include <gtest/gtest.h>

#include "ptx/analysis.h"
#include "ptx/parse.h"

namespace wm::ptx {
namespace {

// The control flow of a kernel with predicates %p0.. and registers %r0.., whose body is `text`.
struct Flow {
  Module module;
  ControlFlow flow;
};
Flow flow_of(const std::string& text) {
  auto module = parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .pred %p<8>;\n"
      ".reg .b32 %r<8>;\n" +
      text + "\n}\n");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  Flow result;
  result.module = *std::move(module);
  result.flow = control_flow(result.module.functions[0]);
  return result;
}

using Blocks = std::vector<std::uint32_t>;

TEST(ControlFlow, StraightCodeIsOneBlockAndNothingPostDominatesIt) {
  const auto f = flow_of("mov.u32 %r1, 1; add.s32 %r1, %r1, 1; ret;").flow;
  ASSERT_EQ(f.blocks.size(), 1U);
  EXPECT_EQ(f.blocks[0].end, 3U);
  EXPECT_TRUE(f.blocks[0].successors.empty());
  EXPECT_EQ(f.post_dominator, Blocks({kNoBlock}));
}

TEST(ControlFlow, AnIfElseMeetsAtItsJoin) {
  const auto f = flow_of("@%p1 bra B; mov.u32 %r1, 1; bra.uni J; B: mov.u32 %r1, 2; J: ret;").flow;
  ASSERT_EQ(f.blocks.size(), 4U);
  EXPECT_EQ(f.blocks[0].successors, Blocks({2, 1}));
  EXPECT_EQ(f.blocks[3].predecessors, Blocks({1, 2}));
  EXPECT_EQ(f.post_dominator, Blocks({3, 3, 3, kNoBlock}));
  EXPECT_EQ(f.block_of, Blocks({0, 1, 1, 2, 3}));
}

TEST(ControlFlow, ALoopIsLeftAtItsExit) {
  const auto f = flow_of("L: add.s32 %r1, %r1, 1; @%p1 bra L; mov.u32 %r2, 0; ret;").flow;
  ASSERT_EQ(f.blocks.size(), 2U);
  EXPECT_EQ(f.blocks[0].successors, Blocks({0, 1}));
  EXPECT_EQ(f.post_dominator, Blocks({1, kNoBlock}));
}

TEST(ControlFlow, TwoReturnsMeetOnlyAtTheEnd) {
  const auto f = flow_of("@%p1 bra B; mov.u32 %r1, 1; ret; B: mov.u32 %r1, 2; ret;").flow;
  ASSERT_EQ(f.blocks.size(), 3U);
  EXPECT_EQ(f.post_dominator, Blocks({kNoBlock, kNoBlock, kNoBlock}));
}

TEST(ControlFlow, AGuardedReturnDoesNotHideWhereTheOthersMeet) {
  const auto f = flow_of("@%p1 bra J; @%p2 ret; mov.u32 %r1, 1; J: bar.sync 0; ret;").flow;
  ASSERT_EQ(f.blocks.size(), 4U);
  EXPECT_EQ(f.blocks[1].successors, Blocks({2}));
  EXPECT_EQ(f.post_dominator, Blocks({3, 2, 3, kNoBlock}));
}

TEST(ControlFlow, ALoopNothingLeavesStillHasAnswers) {
  const auto f = flow_of("@%p1 bra E; L: add.s32 %r1, %r1, 1; @%p2 bra M; mov.u32 %r2, 1; M: bra.uni L; E: ret;").flow;
  ASSERT_EQ(f.blocks.size(), 5U);
  EXPECT_EQ(f.post_dominator, Blocks({kNoBlock, 3, 3, kNoBlock, kNoBlock}));
}

TEST(ControlFlow, AnIndexedBranchHasEachTargetOnce) {
  const auto f =
      flow_of("t: .branchtargets A, B, A; brx.idx %r1, t; A: mov.u32 %r2, 1; bra C; B: mov.u32 %r2, 2; C: ret;").flow;
  ASSERT_EQ(f.blocks.size(), 4U);
  EXPECT_EQ(f.blocks[0].successors, Blocks({1, 2}));
  EXPECT_EQ(f.post_dominator, Blocks({3, 3, 3, kNoBlock}));
}

TEST(ControlFlow, ALabelAtTheEndIsTheEnd) {
  const auto f = flow_of("@%p1 bra E; mov.u32 %r1, 1; E:").flow;
  ASSERT_EQ(f.blocks.size(), 2U);
  EXPECT_EQ(f.blocks[0].successors, Blocks({1}));
  EXPECT_EQ(f.post_dominator, Blocks({kNoBlock, kNoBlock}));
}

TEST(ControlFlow, NestedBranchesMeetInsideOut) {
  const auto f = flow_of("@%p1 bra O; @%p2 bra I; mov.u32 %r1, 1; I: mov.u32 %r2, 1; O: ret;").flow;
  ASSERT_EQ(f.blocks.size(), 5U);
  EXPECT_EQ(f.post_dominator, Blocks({4, 3, 3, 4, kNoBlock}));
}

TEST(ControlFlow, AnEmptyBodyHasNoBlocks) { EXPECT_TRUE(flow_of("").flow.blocks.empty()); }

}  // namespace
}  // namespace wm::ptx
