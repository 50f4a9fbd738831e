// Blocks in which values for later blocks and for loops are computed.
#include "ptx/placement.h"

#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

ControlFlow flow_of_blocks(const std::string& body) {
  const auto module = parse(
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .pred %p<8>;\n" + body + "ret;\n}\n");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return control_flow(module->functions[0]);
}

// Block 0 chooses 1 or 2, which meet in 3.
TEST(Placement, TheBlockBeforeABranchDominatesBothSides) {
  const Placement p(flow_of_blocks("@%p1 bra A;\nbar.sync 0;\nbra B;\nA:\nbar.sync 0;\nB:\nbar.sync 0;\n"));
  EXPECT_EQ(p.common_dominator(1, 2), 0U);
  EXPECT_EQ(p.common_dominator(3, 3), 3U);
  EXPECT_TRUE(p.dominates(0, 3));
  EXPECT_FALSE(p.dominates(1, 3));
  EXPECT_FALSE(p.is_in_loop(1));
}

// Block 1 begins an outer loop, 2 is an inner one, 3 ends the outer one.
TEST(Placement, AValueGoesBeforeEveryLoopThatDoesNotDefineIt) {
  const Placement p(flow_of_blocks(
      "bar.sync 0;\nA:\nbar.sync 0;\nB:\nbar.sync 0;\n@%p1 bra B;\nbar.sync 0;\n@%p2 bra A;\nbar.sync 0;\n"));
  EXPECT_TRUE(p.is_in_loop(2));
  EXPECT_EQ(p.before_loops(2, 0), 0U);
  EXPECT_EQ(p.before_loops(2, 1), 1U) << "defined in the outer loop";
  EXPECT_EQ(p.before_loops(2, 2), 2U);
  EXPECT_EQ(p.before_loops(4, 0), 4U);
}

// Block 2 of the loop of 1 to 3 is passed by.
TEST(Placement, WhatATurnMayPassByStaysInTheLoop) {
  const Placement p(flow_of_blocks(
      "bar.sync 0;\nA:\nbar.sync 0;\n@%p1 bra B;\nbar.sync 0;\nB:\nbar.sync 0;\n@%p2 bra A;\nbar.sync 0;\n"));
  EXPECT_EQ(p.before_loops_that_pass(1, 0), 0U);
  EXPECT_EQ(p.before_loops_that_pass(2, 0), 2U);
  EXPECT_EQ(p.before_loops(2, 0), 0U);
}

// Block 1 is a loop that is reached from block 3, behind it in the text.
TEST(Placement, ABlockThatIsReachedFromBehindEndsTheSearch) {
  const Placement p(
      flow_of_blocks("bra C;\nA:\nbar.sync 0;\n@%p1 bra A;\nbar.sync 0;\nret;\nC:\nbar.sync 0;\nbra A;\n"));
  EXPECT_TRUE(p.is_in_loop(1));
  EXPECT_EQ(p.before_loops(1, 0), 1U);
  EXPECT_FALSE(p.is_in_loop(2)) << "the branch of block 3 to block 1 closes no loop";
}

TEST(Placement, ALoopAtTheEntryHasNoBlockBeforeIt) {
  const Placement p(flow_of_blocks("A:\nbar.sync 0;\n@%p1 bra A;\n"));
  EXPECT_EQ(p.before_loops(0, 1), 0U);
}

}  // namespace
}  // namespace wm::ptx
