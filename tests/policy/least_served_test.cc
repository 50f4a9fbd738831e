// Kernels in the order of what their clients have used.
#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

// A block fills an SM, so that the order decides who runs.
constexpr gpu::BlockDemand kFullSm{2048, 16, 0};

TEST(LeastServed, KernelsThatStayShareTheMachineEqually) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "least_served:slice=1000",
        {arrive_together(
             {{.name = "a", .blocks = 500, .block = kFullSm}, {.name = "b", .blocks = 500, .block = kFullSm}}),
         run(200'000)});
  const Kernel *a = gpu.find(KernelId{0}), *b = gpu.find(KernelId{1});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_GT(a->done, 10U);
  EXPECT_LE(a->done > b->done ? a->done - b->done : b->done - a->done, 3U);
}

TEST(LeastServed, AShareIsAWeight) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "least_served:slice=1000",
        {arrive_together({{.name = "a", .blocks = 900, .block = kFullSm, .share = 3},
                          {.name = "b", .blocks = 900, .block = kFullSm}}),
         run(300'000)});
  const Kernel *a = gpu.find(KernelId{0}), *b = gpu.find(KernelId{1});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  ASSERT_GT(b->done, 5U);
  EXPECT_NEAR(static_cast<double>(a->done) / b->done, 3, 0.6);
}

// The short kernel waits for blocks that run, and not for the long kernel's end.
TEST(LeastServed, AShortKernelPassesALongOne) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "least_served",
        {arrive({.name = "long", .blocks = 500, .block = kFullSm}), run(50'000),
         arrive({.name = "short", .blocks = 4, .block = kFullSm}), run(50'000)});
  EXPECT_NE(gpu.find(KernelId{0}), nullptr);
  EXPECT_EQ(gpu.find(KernelId{1}), nullptr) << "it has ended";
}

TEST(LeastServed, HigherPrioritiesComeFirst) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "least_served:slice=1000",
        {arrive_together({{.name = "a", .blocks = 500, .block = kFullSm},
                          {.name = "b", .blocks = 500, .block = kFullSm, .priority = 1}}),
         run(100'000)});
  EXPECT_LE(gpu.find(KernelId{0})->done, 2U);
  EXPECT_GT(gpu.find(KernelId{1})->done, 10U);
}

}  // namespace
}  // namespace wm::policy::test
