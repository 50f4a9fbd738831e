// Priority queues and dynamic spatial sharing, by draining and by context switch.
#include <gmock/gmock.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

using testing::HasSubstr;

FakeKernel kernel(const char* name, std::uint32_t blocks, int priority = 0) {
  return {.name = name, .blocks = blocks, .priority = priority};
}

TEST(Npq, Decisions) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "npq", {arrive(kernel("a", 200)), arrive(kernel("b", 200)), arrive(kernel("c", 200, 1)), run(30'000)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 > k0 arrived\n"
            "0 give sm 0-3 to k0, drain\n"
            "0 > k1 arrived\n"
            "0 > k2 arrived\n"
            "12800 > k0 done\n"
            "12800 give sm 0-3 to k2, drain\n"  // it came last, and is more important
            "25600 > k2 done\n"
            "25600 give sm 0-3 to k1, drain\n");
}

TEST(Npq, SmsThatFallFreeAreUsedBeforeTheKernelEnds) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "npq", {arrive(kernel("a", 66)), arrive(kernel("b", 100)), run(3300)});
  EXPECT_EQ(gpu.owners(), "aabb");  // 64 blocks ended together; two more of the first run on two SMs
}

TEST(Ppq, ExclusiveDecisions) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "ppq", {arrive(kernel("a", 600)), run(1000), arrive(kernel("c", 20, 1)), run(10'000)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 > k0 arrived\n"
            "0 give sm 0-3 to k0, drain\n"
            "1000 > k1 arrived\n"
            "1000 give sm 0-3 to k1, drain\n"  // its 20 blocks need two, and it has the rest for itself
            "3200 > sm 0 ready for k1\n"
            "3200 > sm 1 ready for k1\n"
            "3200 > sm 2 ready for k1\n"
            "3200 > sm 3 ready for k1\n"
            "6400 > k1 done\n"
            "6400 give sm 0-3 to k0, drain\n");
}

TEST(Ppq, SharedTakesOnlyWhatItNeeds) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "ppq:access=shared:preemption=switch",
        {arrive(kernel("a", 600)), run(1000), arrive(kernel("c", 40, 1)), run(10'000)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 > k0 arrived\n"
            "0 give sm 0-3 to k0, switch\n"
            "1000 > k1 arrived\n"
            "1000 give sm 0-2 to k1, switch\n"
            "1500 > sm 0 ready for k1\n"
            "1500 > sm 1 ready for k1\n"
            "1500 > sm 2 ready for k1\n"
            "4700 > k1 done\n"
            "4700 give sm 0-2 to k0, switch\n");
}

TEST(Ppq, EqualsDoNotPreemptEachOther) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "ppq", {arrive(kernel("a", 600, 1)), run(1000), arrive(kernel("b", 600, 1))});
  EXPECT_EQ(gpu.owners(), "aaaa");
}

TEST(Ppq, TheLeastImportantLosesItsSmsFirst) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "ppq:access=shared", {arrive_together({kernel("a", 32, 1), kernel("b", 600)}), run(1000)});
  EXPECT_EQ(gpu.owners(), "aabb");
  gpu.arrive(kernel("c", 48, 2));
  EXPECT_EQ(gpu.owners(), "cacc");
}

TEST(Dss, Decisions) {
  FakeMachine gpu({.sms = 5});
  drive(gpu, "dss",
        {arrive(kernel("a", 600)), run(1000), arrive(kernel("b", 600)), run(500), arrive(kernel("c", 600)), run(2000)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 > k0 arrived\n"
            "0 give sm 0-4 to k0, drain\n"  // budget 5
            "1000 > k1 arrived\n"
            "1000 give sm 0-1 to k1, drain\n"  // budgets 3 and 2
            "1500 > k2 arrived\n"
            "1500 give sm 2 to k2, drain\n"  // budgets 2, 2 and 1
            "3200 > sm 0 ready for k1\n"
            "3200 > sm 1 ready for k1\n"
            "3200 > sm 2 ready for k2\n");
}

TEST(Dss, AReservedSmIsPromisedToSomeoneElse) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "dss", {arrive(kernel("a", 600)), run(1000), arrive(kernel("b", 600))});
  EXPECT_EQ(gpu.owners(), "bbaa");
  gpu.arrive(kernel("c", 600));
  gpu.arrive(kernel("d", 600));
  // Budgets of one each: of the two SMs on their way to b, one goes to another, and so does one of a's.
  EXPECT_THAT(gpu.recorder().actions(), HasSubstr("1000 give sm 0 to k2, drain\n1000 give sm 2 to k3, drain\n"));
  EXPECT_EQ(gpu.owners(), "cbda");
}

TEST(Dss, DebtForSmsThatNoOtherKernelWants) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "dss", {arrive(kernel("a", 600)), run(100), arrive(kernel("b", 5)), run(4000)});
  EXPECT_EQ(gpu.owners(), "baaa");  // five blocks need one SM of the two it could have
  gpu.run({4000});
  EXPECT_EQ(gpu.owners(), "aaaa");
}

// Section 4.4 counts processes: two kernels of one share its tokens.
TEST(Dss, TokensAreThoseOfAProcess) {
  FakeMachine gpu({.sms = 4});
  FakeKernel a = kernel("a", 600), b = kernel("b", 600), c = kernel("c", 600);
  a.process = b.process = 1;
  drive(gpu, "dss:preemption=switch", {arrive_together({a, b, c}), run(1000)});
  EXPECT_EQ(gpu.owned({2}), 2U) << gpu.owners();
  EXPECT_EQ(gpu.owned({0}) + gpu.owned({1}), 2U);
}

TEST(Dss, TokensFollowShares) {
  FakeMachine gpu({.sms = 8});
  FakeKernel a = kernel("a", 6000);
  a.share = 3;
  drive(gpu, "dss:preemption=switch", {arrive_together({a, kernel("b", 6000)}), run(1000)});
  EXPECT_EQ(gpu.owners(), "aaaaabab");  // budgets 6 and 2
}

TEST(Preemption, SwitchedBlocksResumeWhereTheyWere) {
  for (const char* how : {"drain", "switch"}) {
    FakeMachine gpu({.sms = 2});
    gpu.start(std::string("ppq:preemption=") + how);
    gpu.arrive(kernel("a", 64));
    gpu.run({1000});
    gpu.arrive(kernel("c", 32, 1));
    gpu.run_until_done({1'000'000});
    EXPECT_EQ(gpu.blocks_done({0}), 64U);
    EXPECT_EQ(gpu.instructions({0}), 64U * 100'000 + 64 * 2400) << how;  // a block's last step is not cut short
  }
}

}  // namespace
}  // namespace wm::policy::test
