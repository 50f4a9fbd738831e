// Left-over, first come first served, even and SMK.
#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

// ISCA 2014, section 2.3: SMs that a kernel has no more blocks for go to the next kernel of its process, and to no
// other.
TEST(Fcfs, KernelsOfAProcessRunBackToBack) {
  FakeMachine gpu({.sms = 2});
  FakeKernel a{.name = "a", .blocks = 33, .process = 1}, b{.name = "b", .process = 1}, c{.name = "c"};
  drive(gpu, "fcfs", {arrive_together({a, b, c}), run(5000)});
  EXPECT_EQ(gpu.blocks_done({0}), 32U) << "the last block runs on one SM";
  EXPECT_GT(gpu.resident({1}, {1}), 0U) << gpu.owners();
  EXPECT_EQ(gpu.resident({1}, {2}), 0U);
}

TEST(Fcfs, KernelsOfAnotherProcessWaitForTheLastBlock) {
  FakeMachine gpu({.sms = 2});
  FakeKernel a{.name = "a", .blocks = 33}, b{.name = "b"};
  drive(gpu, "fcfs", {arrive_together({a, b}), run(5000)});
  EXPECT_EQ(gpu.resident({1}, {1}), 0U) << gpu.owners();
}

TEST(LeftOver, TheSecondKernelStartsWhereTheFirstLeavesRoom) {
  FakeMachine gpu({.sms = 2});
  // 12 blocks of the first fill an SM's registers but for 4096.
  const auto a = FakeKernel{.name = "a", .blocks = 1000, .block = {128, 40, 0}};
  drive(gpu, "left_over",
        {arrive(a), arrive(FakeKernel{.name = "b", .block = {256, 32, 0}}),
         arrive(FakeKernel{.name = "c", .block = {64, 16, 0}})});
  EXPECT_EQ(gpu.resident({0}, {0}), 12U);
  EXPECT_EQ(gpu.resident({0}, {1}), 0U);
  EXPECT_EQ(gpu.resident({0}, {2}), 4U);
}

TEST(LeftOver, DecidesNothing) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "left_over", {arrive("a"), arrive("b"), run(50'000)});
  EXPECT_EQ(gpu.recorder().actions(), "");
}

TEST(Fcfs, Decisions) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "fcfs", {arrive("a"), arrive("b"), run(1000), arrive("c"), done(0), done(1)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 > k0 arrived\n"
            "0 give sm 0-3 to k0, drain\n"
            "0 > k1 arrived\n"
            "1000 > k2 arrived\n"
            "1000 > k0 done\n"
            "1000 give sm 0-3 to k1, drain\n"
            "1000 > k1 done\n"
            "1000 give sm 0-3 to k2, drain\n");
}

TEST(Even, Decisions) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "even", {arrive("a"), run(200), arrive(FakeKernel{.name = "b", .block = {256, 32, 0}}), done(0)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 > k0 arrived\n"
            "0 cap sm 0-3 k0 at 16\n"
            "200 > k1 arrived\n"
            "200 cap sm 0-3 k0 at 8\n"
            "200 cap sm 0-3 k1 at 4\n"
            "200 > k0 done\n"
            "200 cap sm 0-3 k1 at 8\n");
}

TEST(Even, BlocksAboveANewCapRunToTheirEnd) {
  FakeMachine gpu({.sms = 1});
  const auto a = FakeKernel{.name = "a", .blocks = 1000};
  drive(gpu, "even", {arrive(a), run(200), arrive(FakeKernel{.name = "b", .blocks = 1000})});
  EXPECT_EQ(gpu.resident({0}, {0}), 16U);
  EXPECT_EQ(gpu.resident({0}, {1}), 0U);
  gpu.run({5000});
  EXPECT_EQ(gpu.resident({0}, {0}), 8U);
  EXPECT_EQ(gpu.resident({0}, {1}), 8U);
}

TEST(Smk, Decisions) {
  FakeMachine gpu({.sms = 2});
  const auto a = FakeKernel{.name = "a", .isolated_ipc = 400, .launches = 0};
  const auto b = FakeKernel{.name = "b", .isolated_ipc = 100, .launches = 0};
  drive(gpu, "smk", {arrive_together({a, b}), run(4100), done(0)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 > k0 arrived\n"
            "0 > k1 arrived\n"
            "0 cap sm 0-1 k0 at 8\n"
            "0 cap sm 0-1 k1 at 8\n"
            "0 quota sm 0-1 k0 = 1000000\n"
            "0 quota sm 0-1 k1 = 250000\n"
            "0 epoch 10000\n"
            "1000 > quota of k1 spent on sm 0\n"
            "1000 > quota of k1 spent on sm 1\n"
            "4000 > quota of k0 spent on sm 0\n"
            "4000 quota sm 0 k0 = 1000000\n"
            "4000 quota sm 0 k1 = 250000\n"
            "4000 > quota of k0 spent on sm 1\n"
            "4000 quota sm 1 k0 = 1000000\n"
            "4000 quota sm 1 k1 = 250000\n"
            "4100 > k0 done\n"
            "4100 cap sm 0-1 k1 at 16\n"
            "4100 quota sm 0-1 k1 lifted\n"
            "4100 epoch 10000\n");
}

TEST(Smk, BothKernelsFallBehindByTheSameFactor) {
  // In isolation each reaches its last rate on both SMs; together an SM issues no more than 100.
  FakeMachine gpu({.sms = 2, .sm_ipc = 100});
  const auto a = FakeKernel{.name = "a", .block_instructions = 2000, .ipc = {90}, .isolated_ipc = 180, .launches = 0};
  const auto b = FakeKernel{.name = "b", .block_instructions = 2000, .ipc = {30}, .isolated_ipc = 60, .launches = 0};
  drive(gpu, "smk", {arrive_together({a, b}), run(500'000)});
  EXPECT_NEAR(gpu.ipc({0}) / 180, gpu.ipc({1}) / 60, 0.03);
  EXPECT_GT(gpu.ipc({0}), 100);
}

TEST(Smk, MeasuresKernelsWhoseIsolatedRateIsNotKnown) {
  FakeMachine gpu({.sms = 4});
  const auto a = FakeKernel{.name = "a", .ipc = {64}, .launches = 0};
  const auto b = FakeKernel{.name = "b", .ipc = {16}, .launches = 0};
  drive(gpu, "smk", {arrive_together({a, b}), run(10'000)});
  EXPECT_EQ(gpu.recorder().actions(),
            "0 cap sm 2-3 k0 at 0\n"
            "0 cap sm 0-1 k1 at 0\n"
            "0 epoch 10000\n"
            "10000 cap sm 0-3 k0 at 8\n"
            "10000 cap sm 0-3 k1 at 8\n"
            "10000 quota sm 0-3 k0 = 320000\n"  // 64 a cycle and SM, half of the time
            "10000 quota sm 0-3 k1 = 80000\n"
            "10000 epoch 10000\n");
}

}  // namespace
}  // namespace wm::policy::test
