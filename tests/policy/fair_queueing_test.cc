// Launches in the order in which equal shares of the machine would complete them.
#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

// A block fills an SM, so that the order decides which kernel runs. A block takes 3,125 cycles.
constexpr gpu::BlockDemand kOneOnAnSm{2048, 16, 0};
constexpr Cycles kBlockTime{3'200};

double ratio(std::uint64_t a, std::uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

TEST(FairQueueing, KernelsOfUnknownLengthShareTheMachineEqually) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "fair_queueing:slice=1000",
        {arrive_together(
             {{.name = "a", .blocks = 500, .block = kOneOnAnSm}, {.name = "b", .blocks = 500, .block = kOneOnAnSm}}),
         run(200'000)});
  ASSERT_GT(gpu.blocks_done(KernelId{0}), 10U);
  EXPECT_NEAR(ratio(gpu.blocks_done(KernelId{0}), gpu.blocks_done(KernelId{1})), 1, 0.1);
}

TEST(FairQueueing, ClientsOfLongAndShortLaunchesShareTheMachineEqually) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "fair_queueing",
        {arrive_together({{.name = "a", .blocks = 40, .block = kOneOnAnSm, .isolated_ipc = 64, .launches = 0},
                          {.name = "b", .blocks = 2, .block = kOneOnAnSm, .isolated_ipc = 64, .launches = 0}}),
         run(4'000'000)});
  EXPECT_NEAR(ratio(gpu.blocks_done(KernelId{0}), gpu.blocks_done(KernelId{1})), 1, 0.1);
}

TEST(FairQueueing, AShareIsAWeight) {
  FakeMachine gpu({.sms = 2});
  drive(
      gpu, "fair_queueing",
      {arrive_together({{.name = "a", .blocks = 8, .block = kOneOnAnSm, .isolated_ipc = 64, .share = 3, .launches = 0},
                        {.name = "b", .blocks = 8, .block = kOneOnAnSm, .isolated_ipc = 64, .launches = 0}}),
       run(4'000'000)});
  EXPECT_NEAR(ratio(gpu.blocks_done(KernelId{0}), gpu.blocks_done(KernelId{1})), 3, 0.4);
}

// Least attained service would let the last arrival go first, whatever its length.
TEST(FairQueueing, AShortLaunchPrecedesALongOneThatArrivesWithIt) {
  FakeMachine gpu({.sms = 2});
  gpu.start("fair_queueing");
  const KernelId small = gpu.arrive({.name = "s", .blocks = 4, .block = kOneOnAnSm, .isolated_ipc = 64});
  gpu.run_until_done(10 * kBlockTime);
  const KernelId large = gpu.arrive({.name = "l", .blocks = 50, .block = kOneOnAnSm, .isolated_ipc = 64});
  gpu.run_until_done(100 * kBlockTime);
  gpu.relaunch(small);
  gpu.relaunch(large);
  gpu.run(3 * kBlockTime);
  EXPECT_EQ(gpu.find(small), nullptr) << "it has ended";
  EXPECT_NE(gpu.find(large), nullptr);
}

// The client that was away gets no credit for it: its next launch ends after those that arrived before.
TEST(FairQueueing, AClientThatPausedIsNotOwedTheTimeOfItsPause) {
  FakeMachine gpu({.sms = 2});
  gpu.start("fair_queueing");
  const KernelId away = gpu.arrive({.name = "p", .blocks = 40, .block = kOneOnAnSm, .isolated_ipc = 64});
  gpu.run_until_done(100 * kBlockTime);
  const KernelId busy = gpu.arrive({.name = "b", .blocks = 4, .block = kOneOnAnSm, .isolated_ipc = 64, .launches = 0});
  gpu.run(200 * kBlockTime);
  gpu.relaunch(away);
  const std::uint64_t before = gpu.blocks_done(busy);
  gpu.run(40 * kBlockTime);
  EXPECT_GT(gpu.blocks_done(busy) - before, 30U) << "half of the machine's 80 blocks";
}

TEST(FairQueueing, HigherPrioritiesComeFirst) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "fair_queueing",
        {arrive_together({{.name = "a", .blocks = 2, .block = kOneOnAnSm, .isolated_ipc = 64},
                          {.name = "b", .blocks = 500, .block = kOneOnAnSm, .isolated_ipc = 64, .priority = 1}}),
         run(100'000)});
  EXPECT_LE(gpu.blocks_done(KernelId{0}), 2U);
  EXPECT_GT(gpu.blocks_done(KernelId{1}), 10U);
}

}  // namespace
}  // namespace wm::policy::test
