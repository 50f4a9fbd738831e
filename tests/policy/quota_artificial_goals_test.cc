// Quotas of kernels without a goal (ISCA 2017, section 3.5).
#include <gtest/gtest.h>
#include <string>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

// Section 3.5: the artificial goal follows the QoS kernels, each compared with what it was allotted.
TEST(Quota, ArtificialGoalsMultiplyTheHeadroomOfAllQosKernels) {
  FakeMachine gpu({.sms = 1});
  gpu.start("quota:scheme=naive:epoch=1000:first_ipc=1");
  gpu.arrive_together({{.name = "p", .goal = 1}, {.name = "q", .goal = 2}, {.name = "o"}});
  gpu.spend({0}, {0}, 500);   // half of its quota
  gpu.spend({0}, {1}, 1600);  // 0.8
  gpu.spend({0}, {2}, 10'000);
  gpu.pass({1000});
  gpu.end_epoch();
  EXPECT_EQ(gpu.residents({0})[2].quota, 4000);  // 10 x 0.5 x 0.8 for 1000 cycles
}

// A kernel that runs at its goal and has a rest of earlier epochs would keep it for ever if the other kernel's quota
// stayed as it is, which is what the equation as printed says.
TEST(Quota, ArtificialGoalsShrinkWhileQuotaThatRolledOverIsLeft) {
  for (const bool printed : {false, true}) {
    FakeMachine gpu({.sms = 1});
    gpu.start(std::string("quota:epoch=1000:history=off:adjust=off:allotted=") + (printed ? "printed" : "quota"));
    gpu.arrive_together({{.name = "q", .goal = 2}, {.name = "o"}});
    gpu.spend({0}, {0}, 1000);
    gpu.pass({1000});
    gpu.end_epoch();
    EXPECT_EQ(gpu.residents({0})[0].quota, 3000);
    gpu.spend({0}, {0}, 2000);
    gpu.spend({0}, {1}, 3000);
    gpu.pass({1000});
    gpu.end_epoch();
    EXPECT_EQ(gpu.residents({0})[1].quota, printed ? 3000 : 2000);
  }
}

// The goal is 2 per cycle. A kernel that is ahead by the surplus does not need the rest of the last epoch's quota.
TEST(Quota, WhatRolledOverCountsUntilTheKernelIsAheadOfItsGoalByTheSurplus) {
  struct Case {
    const char* surplus;
    std::int64_t first_instructions;
    std::int64_t other_quota;
  };
  for (const Case& c : {Case{"1", 4000, 2000}, Case{"1", 5000, 3000}, Case{"0.1", 4000, 3000}}) {
    FakeMachine gpu({.sms = 1});
    gpu.start(std::string("quota:epoch=1000:history=off:adjust=off:surplus=") + c.surplus);
    gpu.arrive_together({{.name = "q", .goal = 2}, {.name = "o"}});
    gpu.spend({0}, {0}, c.first_instructions);  // all but 2000 were in flight when its quota was spent
    gpu.pass({1000});
    gpu.end_epoch();
    gpu.spend({0}, {0}, 1000);
    gpu.pass({1000});
    gpu.end_epoch();
    ASSERT_EQ(gpu.residents({0})[0].quota, 3000) << "half of the last quota rolled over";
    gpu.spend({0}, {0}, 2000);
    gpu.spend({0}, {1}, 3000);
    gpu.pass({1000});
    gpu.end_epoch();  // 7000 or 8000 instructions; 6000 are due in 3000 cycles
    EXPECT_EQ(gpu.residents({0})[1].quota, c.other_quota) << c.surplus << " " << c.first_instructions;
  }
}

}  // namespace
}  // namespace wm::policy::test
