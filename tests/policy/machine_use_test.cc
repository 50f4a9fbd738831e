#include "policy/algorithm/machine_use.h"

#include <gtest/gtest.h>

#include "fake_machine.h"

namespace wm::policy::test {
namespace {

// Four SMs hold 64 blocks of 128 threads.
TEST(MachineUse, IsTimeOfTheWholeMachine) {
  FakeMachine gpu;
  gpu.start("left_over");
  const KernelId full = gpu.arrive({.blocks = 64, .block_instructions = 1'000'000'000});
  MachineUse use;
  use.charge(gpu, [](KernelId, double) { FAIL() << "no kernel is there"; });
  use.begin(*gpu.find(full), gpu);
  std::map<KernelId, double> used;
  const auto add = [&](KernelId id, double cycles) { used[id] += cycles; };
  gpu.run({1000});
  use.charge(gpu, add);
  EXPECT_DOUBLE_EQ(used[full], 1000);
  use.charge(gpu, add);
  EXPECT_DOUBLE_EQ(used[full], 1000) << "no time has passed";
  use.end(full);
  gpu.run({1000});
  use.charge(gpu, add);
  EXPECT_DOUBLE_EQ(used[full], 1000) << "a kernel that has ended uses nothing";
  EXPECT_FALSE(use.is_here(full));
}

TEST(MachineUse, CountsTheBlocksOfAKernelThatHasJustEnded) {
  FakeMachine gpu;
  gpu.start("left_over");
  const KernelId half = gpu.arrive({.blocks = 32, .block_instructions = 1'000'000'000});
  MachineUse use;
  use.begin(*gpu.find(half), gpu);
  double used = 0;
  const auto add = [&](KernelId, double cycles) { used += cycles; };
  gpu.run({1000});
  use.charge(gpu, add);
  EXPECT_DOUBLE_EQ(used, 500);
  gpu.pass({1000});
  gpu.finish(half);
  use.charge(gpu, add);
  EXPECT_GE(used, 1000);
}

TEST(OrderLaunches, ByPriorityThenByKeyThenTheLatestArrival) {
  FakeMachine gpu;
  gpu.start("left_over");
  const KernelId old = gpu.arrive({.name = "old"});
  gpu.run({1000});
  const KernelId late = gpu.arrive({.name = "late"});
  const KernelId lowest = gpu.arrive({.name = "lowest"});
  const KernelId urgent = gpu.arrive({.name = "urgent", .priority = 1});
  const auto order = order_launches(gpu, [&](KernelId id) { return id == lowest ? 1.0 : 2.0; });
  EXPECT_EQ(order, (std::vector<KernelId>{urgent, lowest, late, old}));
}

}  // namespace
}  // namespace wm::policy::test
