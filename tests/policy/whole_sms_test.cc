// QoS by whole SMs: Spart, SMQoS and its two relatives.
#include <algorithm>
#include <gmock/gmock.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// 25 instructions a cycle on each SM.
FakeKernel service(double goal) {
  return {.name = "s", .blocks = 2'000'000, .block_instructions = 2000, .ipc = {25}, .goal = goal, .isolated_ipc = 200};
}
// Gains from every SM.
FakeKernel compute(const char* name = "c") {
  return {.name = name, .blocks = 2'000'000, .block_instructions = 2000, .ipc = {50}};
}
// Gains from no more than two.
FakeKernel memory() {
  FakeKernel k = compute("m");
  k.max_ipc = 100;
  return k;
}

TEST(Spart, Decisions) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "spart", {arrive_together({service(150), compute()}), run(80'000)});
  EXPECT_EQ(gpu.recorder().actions(),
            "0 epoch 10000\n"
            "0 give sm 0-3 to k0, drain\n"
            "0 give sm 4-7 to k1, drain\n"
            "0 epoch 10000\n"
            "10000 give sm 4-5 to k0, drain\n"  // 4 SMs made 100: the model says 6
            "10000 epoch 10000\n"
            "20000 give sm 6 to k0, drain\n"  // on the whole it is still behind
            "20000 epoch 10000\n"
            "30000 give sm 7 to k0, drain\n"
            "30000 epoch 10000\n"
            "40000 give sm 0 to k1, drain\n"  // made good
            "40000 epoch 10000\n"
            "50000 give sm 1 to k1, drain\n"
            "50000 epoch 10000\n");
}

TEST(Spart, MeetsTheGoal) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "spart", {arrive_together({service(130), compute()}), run(1'000'000)});
  EXPECT_GE(gpu.ipc({0}), 130);
  EXPECT_GT(gpu.ipc({1}), 50);
}

TEST(Spart, KernelsWithoutAGoalMayKeepAnSmEach) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "spart:batch_keeps=1", {arrive_together({service(500), compute("c"), compute("d")}), run(200'000)});
  EXPECT_EQ(gpu.owned({1}), 1U);
  EXPECT_EQ(gpu.owned({2}), 1U);
}

TEST(SmQos, Decisions) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "smqos", {arrive_together({service(120), memory()}), run(95'000)});
  EXPECT_EQ(gpu.recorder().actions(),
            "0 give sm 0-3 to k0, drain\n"
            "0 give sm 4-7 to k1, drain\n"
            "0 epoch 10000\n"
            "10000 give sm 4 to k0, drain\n"  // behind: one SM at a time
            "20000 give sm 5 to k0, drain\n"
            "70000 give sm 0 to k1, drain\n"  // ahead: the batch task has fewer SMs than opt_k, 4
            "80000 give sm 1 to k1, drain\n"
            "90000 give sm 0 to k0, drain\n");  // behind again
}

TEST(SmQos, SettlesJustAboveItsGoal) {
  for (const FakeKernel& batch : {compute(), memory()}) {
    FakeMachine gpu({.sms = 8});
    drive(gpu, "smqos", {arrive_together({service(110), batch}), run(2'000'000)});
    EXPECT_GE(gpu.ipc({0}), 110);
    EXPECT_LE(gpu.ipc({0}), 114);
  }
}

// A service whose host pauses between launches leaves and returns; the batch task uses all SMs meanwhile.
TEST(SmQos, ContinuesWithTheSmsThatAReturningKernelHad) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "smqos", {arrive_together({service(150), compute()}), run(40'000)});
  const std::string owners = gpu.owners();
  ASSERT_NE(owners, "sssscccc");
  gpu.finish({0});
  EXPECT_EQ(gpu.owners(), "cccccccc");
  gpu.run({5'000});
  gpu.relaunch({0});
  EXPECT_EQ(gpu.owners(), owners);
}

TEST(SmQos, BeginsAnewWithKernelsThatWereNotTogetherBefore) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "smqos", {arrive_together({service(150), compute()}), run(40'000), done(1), arrive(compute("d"))});
  EXPECT_EQ(gpu.owners(), "ssssdddd");
}

TEST(SmQos, SmsThatWereOffAreSwitchedOffAgain) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "smqos", {arrive_together({service(60), memory()}), run(200'000)});
  const std::string owners = gpu.owners();
  ASSERT_THAT(owners, HasSubstr("-"));
  gpu.finish({0});
  gpu.run({5'000});
  gpu.relaunch({0});
  EXPECT_EQ(gpu.owners(), owners);
}

TEST(SmQos, GatesSmsThatAMemoryBoundTaskDoesNotGainFrom) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "smqos", {arrive_together({service(60), memory()})});
  double off = 0;
  gpu.after_each_step([&off](const FakeMachine& m) {
    off +=
        static_cast<double>(std::count_if(m.sms().begin(), m.sms().end(), [](const Sm& sm) { return !powered(sm); }));
  });
  gpu.run({1'000'000});
  EXPECT_GT(off / 10'000, 2);  // more than 2 of 8, averaged over 10,000 steps
  EXPECT_GE(gpu.ipc({0}), 60);
  EXPECT_GT(gpu.ipc({1}), 95);  // the batch task loses almost nothing
}

TEST(SmQos, AComputeBoundTaskGetsEverySm) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "smqos", {arrive_together({service(60), compute()}), run(1'000'000)});
  EXPECT_THAT(gpu.recorder().actions(), Not(HasSubstr("gate")));
}

// The first blocks of the batch task run at a fifth of its rate. The epoch in which it loses its first SM is five times
// as fast as the one before, which says nothing about SMs.
TEST(SmQos, AColdStartDoesNotDecideWhatABatchTaskGainsFrom) {
  FakeMachine gpu({.sms = 8});
  FakeKernel batch = compute();
  batch.block_instructions = 6000;
  batch.ipc = {10};
  drive(gpu, "smqos", {arrive_together({service(105), batch}), run(9'700)});
  gpu.become({1}, {50});
  gpu.run({500'000});
  EXPECT_THAT(gpu.recorder().actions(), Not(HasSubstr("gate")));
}

// SMs of the LS task take 6,400 cycles to drain, so that no epoch in which one changes its owner can be compared.
TEST(SmQos, SmsThatDrainSlowlyAreMeasuredOneByOne) {
  FakeMachine gpu({.sms = 16});
  FakeKernel ls = service(60);
  ls.block_instructions = 10'000;
  std::uint32_t max_owned = 0;
  drive(gpu, "smqos", {arrive_together({ls, memory()})});
  gpu.after_each_step([&max_owned](const FakeMachine& m) { max_owned = std::max(max_owned, m.owned({1})); });
  gpu.run({300'000});
  EXPECT_EQ(max_owned, 9U) << "one more than the even split, from which it gained nothing";
  EXPECT_GE(gpu.ipc({0}), 60);
}

TEST(SmQos, WithoutPowerGatingSmsGoToTheBatchTask) {
  FakeMachine gpu({.sms = 8, .cans = Cans::all().without({Can::gate_power})});
  drive(gpu, "smqos", {arrive_together({service(60), memory()}), run(500'000)});
  EXPECT_EQ(gpu.owned({0}) + gpu.owned({1}), 8U);
}

TEST(SmQos, SeveralBatchTasksShareWhatIsLeft) {
  FakeMachine gpu({.sms = 9});
  drive(gpu, "smqos", {arrive_together({service(25), compute("c"), compute("d")}), run(500'000)});
  EXPECT_GE(gpu.ipc({0}), 25);
  EXPECT_LE(std::max(gpu.owned({1}), gpu.owned({2})) - std::min(gpu.owned({1}), gpu.owned({2})), 1U);
}

TEST(StaticSmQos, Decisions) {
  FakeMachine gpu({.sms = 24});
  drive(gpu, "static_smqos", {arrive_together({service(190), compute("c")})});  // 95% of 24 is 22.8
  EXPECT_EQ(gpu.owners(), "sssssssssssssssssssssscc");
  EXPECT_EQ(gpu.recorder().actions(),
            "0 give sm 0-21 to k0, drain\n"
            "0 give sm 22-23 to k1, drain\n");
}

TEST(StaticSmQos, PartsOfAnSmMayBeRoundedOtherwise) {
  for (const auto& [rounding, sms] : {std::pair{"down", 22U}, std::pair{"nearest", 23U}, std::pair{"up", 23U}}) {
    FakeMachine gpu({.sms = 24});
    drive(gpu, std::string("static_smqos:rounding=") + rounding, {arrive_together({service(190), compute("c")})});
    EXPECT_EQ(gpu.owned({0}), sms) << rounding;
  }
}

TEST(StaticSmQos, AGoalOfWholeSmsGetsThem) {
  FakeMachine gpu({.sms = 10});
  drive(gpu, "static_smqos", {arrive_together({service(140), compute("c")})});  // 70% of 10, as a product of doubles
  EXPECT_EQ(gpu.owned({0}), 7U);
}

// Both policies take as much for a goal that all SMs would not meet.
TEST(WholeSms, SmqosAndSpartMayTakeTheSameFromABatchTask) {
  for (const char* policy : {"smqos", "spart"}) {
    for (const std::uint32_t keeps : {0U, 1U}) {
      FakeMachine gpu({.sms = 8});
      drive(gpu, std::string(policy) + ":batch_keeps=" + std::to_string(keeps),
            {arrive_together({service(1000), compute("c")}), run(500'000)});
      EXPECT_EQ(gpu.owned({1}), keeps) << policy;
    }
    EXPECT_EQ(find(policy).operator*()->info.parameters.back().name, "batch_keeps");
    EXPECT_EQ(choose(policy)->to_string(), choose(std::string(policy) + ":batch_keeps=0")->to_string());
  }
}

TEST(StaticSmQos, TheRestIsDividedAndNoKernelIsLeftOut) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "static_smqos", {arrive_together({service(200), compute("c"), compute("d")})});
  EXPECT_EQ(gpu.owners(), "sssssscd");
}

TEST(SmQosOffline, GivesEqualPartsWhereNoNumberIsGiven) {
  FakeMachine gpu({.sms = 3});
  drive(gpu, "smqos_offline", {arrive_together({service(20), compute()}), run(45'000)});
  EXPECT_EQ(gpu.recorder().actions(),
            "0 give sm 0 to k0, drain\n"
            "0 give sm 1-2 to k1, drain\n");
}

TEST(SmQosOffline, LeavesEveryOtherTaskOneSm) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "smqos_offline:sms=9", {arrive_together({service(110), compute()}), run(100'000)});
  EXPECT_EQ(gpu.owners(), "sssc");
}

TEST(SmQosOffline, RunsWithANumberWhereToldTo) {
  FakeMachine gpu({.sms = 8});
  drive(gpu, "smqos_offline:sms=3", {arrive_together({service(110), compute()}), run(100'000)});
  EXPECT_EQ(gpu.owners(), "sssccccc");
}

}  // namespace
}  // namespace wm::policy::test
