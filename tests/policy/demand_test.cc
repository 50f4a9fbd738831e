#include "policy/algorithm/demand.h"

#include <gtest/gtest.h>

#include "policy/scripted_machine.h"

namespace wm::policy::test {
namespace {

// An empty SM holds 16 blocks of these kernels.
class Demand : public testing::Test {
 protected:
  Demand() {
    gpu_.add(0);
    gpu_.add(0);
  }
  Kernel& first() { return gpu_.kernel({0}); }
  ScriptedMachine gpu_{3};
};

TEST_F(Demand, BlocksThatFitOnTheKernelsSmsAreServed) {
  gpu_.sm(0).owner = {0};
  first().waiting = 20;
  EXPECT_EQ(unserved(gpu_, first()), 4U);
  first().waiting = 17;
  EXPECT_EQ(unserved(gpu_, first()), 1U);
  first().waiting = 16;
  EXPECT_EQ(unserved(gpu_, first()), 0U);
  first().waiting = 0;
  EXPECT_EQ(unserved(gpu_, first()), 0U);
}

TEST_F(Demand, OneBlockWithoutAnSmIsUnserved) {
  first().waiting = 1;
  EXPECT_EQ(unserved(gpu_, first()), 1U);
}

TEST_F(Demand, AReservedSmWillHoldAllItsBlocks) {
  gpu_.sm(0).state = Sm::State::reserved;
  gpu_.sm(0).next = {0};
  gpu_.sm(0).free = {};
  first().waiting = 20;
  EXPECT_EQ(unserved(gpu_, first()), 4U);
}

TEST_F(Demand, IdleSmsAreGivenAsLongAsBlocksNeedThem) {
  first().waiting = 17;
  give_idle(gpu_, first(), Preempt::drain);
  EXPECT_EQ(gpu_.owners(), "aa-");
}

TEST_F(Demand, AmongEqualPrioritiesTheOlderKernelIsFirst) {
  gpu_.add(0).priority = 1;
  gpu_.add(0).priority = 1;
  std::string order;
  for (const Kernel& k : by_priority(gpu_)) order += static_cast<char>('a' + k.id.index);
  EXPECT_EQ(order, "cdab");
}

TEST_F(Demand, OnlySmsWithoutAnOwnerAreClaimed) {
  gpu_.sm(1).owner = {1};
  claim_rest(gpu_, {0}, Preempt::drain);
  EXPECT_EQ(gpu_.owners(), "aba");
}

}  // namespace
}  // namespace wm::policy::test
