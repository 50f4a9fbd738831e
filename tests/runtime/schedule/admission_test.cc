// Each rule by itself, and the rules together.
#include "runtime/schedule/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/schedule/fixture.h"
#include "runtime/schedule/rules/pass_through.h"
#include "runtime/schedule/rules/pipeline_undivided.h"
#include "runtime/schedule/rules/room_for_transfers.h"
#include "runtime/schedule/rules/short_launches.h"

namespace wm::runtime::test {
namespace {

std::vector<std::string> names(const AdmissionRules& rules) {
  std::vector<std::string> found;
  for (const auto& rule : rules) found.push_back(rule->name());
  return found;
}

const ManualClock& clock() {
  static const ManualClock clock;
  return clock;
}

struct AdmissionTest : testing::Test {
  CommandPtr running(const std::shared_ptr<Client>& of, std::uint32_t id, bool workers = false) {
    auto command = make_launch(of, make_queue(), "r");
    command->placement.kernel = {id};
    if (workers) command->workers = std::make_unique<WorkerRun>();
    kernels.add(command);
    return command;
  }
  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>(), other = std::make_shared<FakeClient>();
  ActiveKernels kernels;
};

TEST_F(AdmissionTest, ShortLaunchesRunUnmodifiedBelowTheLimit) {
  const ShortLaunches rule(100'000, false);
  const auto launch = make_launch(client, make_queue(), "k", {.workers = true});
  const auto asked = [&](double expected, double ahead, bool isolated) {
    return rule.runs_unmodified({*launch->launch, expected, ahead, isolated});
  };
  EXPECT_TRUE(asked(299'999, 0, true));
  EXPECT_FALSE(asked(300'000, 0, true));
  EXPECT_FALSE(asked(200'000, 100'000, true)) << "what is ahead counts";
  EXPECT_TRUE(asked(99'999, 0, false));
  EXPECT_FALSE(asked(100'000, 0, false));
  EXPECT_FALSE(rule.runs_unmodified({*launch->launch, std::nullopt, 0, true})) << "not known";
}

TEST_F(AdmissionTest, ShortLaunchesNeedTheDeviceToThemselvesWhereWorkersHoldUnits) {
  const ShortLaunches rule(100'000, true);
  const auto launch = make_launch(client, make_queue(), "k", {.workers = true});
  EXPECT_TRUE(rule.runs_unmodified({*launch->launch, 1.0, 0, true}));
  EXPECT_FALSE(rule.runs_unmodified({*launch->launch, 1.0, 0, false}));
}

TEST_F(AdmissionTest, PipeliningNeedsTheOriginalCompiled) {
  const ShortLaunches rule(100'000, false);
  const auto launch = make_launch(client, make_queue(), "k", {.workers = true});
  EXPECT_TRUE(rule.may_pipeline({*launch->launch, 1.0, 0, true}));
  launch->launch->may_run_unmodified = false;
  EXPECT_FALSE(rule.may_pipeline({*launch->launch, 1.0, 0, true}));
}

TEST_F(AdmissionTest, UndividedLaunchesArePipelinedOnlyWhileIsolated) {
  const PipelineUndivided rule;
  const auto plain = make_launch(client, make_queue(), "k"),
             divided = make_launch(client, make_queue(), "k", {.workers = true});
  EXPECT_TRUE(rule.may_pipeline({*plain->launch, std::nullopt, 0, true}));
  EXPECT_FALSE(rule.may_pipeline({*plain->launch, std::nullopt, 0, false}));
  EXPECT_FALSE(rule.may_pipeline({*divided->launch, std::nullopt, 0, true}));
}

TEST_F(AdmissionTest, TheKernelWithMostWorkersMakesRoom) {
  const RoomForTransfers rule;
  EXPECT_EQ(rule.makes_room(kernels), nullptr);
  const auto few = running(client, 0, true), many = running(other, 1, true), plain = running(other, 2);
  few->workers->batches = {std::make_shared<WorkerBatch>()};
  many->workers->batches = {std::make_shared<WorkerBatch>(), std::make_shared<WorkerBatch>()};
  EXPECT_EQ(rule.makes_room(kernels), many);
  few->workers->batches[0]->state = WorkerBatch::State::leaving;
  EXPECT_EQ(rule.makes_room(kernels), nullptr) << "a worker was told to leave already";
}

TEST_F(AdmissionTest, RulesFollowOptionsAndDevice) {
  using testing::ElementsAre;
  EXPECT_THAT(names(make_admission_rules({}, callback_device(), clock())),
              ElementsAre("pipeline_undivided", "room_for_transfers", "short_launches"));
  EXPECT_THAT(names(make_admission_rules({}, polled_device(), clock())),
              ElementsAre("pipeline_undivided", "short_launches"));
  EXPECT_THAT(names(make_admission_rules({.short_launch = 0}, polled_device(), clock())),
              ElementsAre("pipeline_undivided"));
  EXPECT_THAT(names(make_admission_rules({.pass_through = true}, callback_device(), clock())),
              ElementsAre("pass_through"));
}

TEST_F(AdmissionTest, OnlyCommandsOfTheDeviceInOrderFollow) {
  const Admission admission(make_admission_rules({}, polled_device(), clock()), kernels);
  const auto before = make_command(client, make_queue(), CommandType::read);
  EXPECT_TRUE(admission.may_follow(*make_command(client, make_queue(), CommandType::read), *before));
  EXPECT_FALSE(admission.may_follow(*make_command(client, make_queue(false), CommandType::read), *before));
  EXPECT_FALSE(admission.may_follow(*make_command(client, make_queue(), CommandType::marker), *before));
  const auto blocking = make_command(client, make_queue(), CommandType::read);
  blocking->blocking_transfer = true;
  EXPECT_FALSE(admission.may_follow(*blocking, *before));
  EXPECT_TRUE(admission.may_follow(*make_launch(client, make_queue(), "k"), *before));
  EXPECT_FALSE(admission.may_follow(*make_launch(client, make_queue(), "k", {.prints = true}), *before));
}

TEST_F(AdmissionTest, AtMost32LaunchesArePipelined) {
  const Admission admission(make_admission_rules({}, polled_device(), clock()), kernels);
  const auto launch = make_launch(client, make_queue(), "k"), before = make_launch(client, make_queue(), "k");
  client->state.pipelined_launches = 31;
  EXPECT_TRUE(admission.may_follow(*launch, *before));
  client->state.pipelined_launches = 32;
  EXPECT_FALSE(admission.may_follow(*launch, *before));
  client->state.pipelined_launches = 17;
  EXPECT_FALSE(admission.wants_refill(*client));
  client->state.pipelined_launches = 16;
  EXPECT_TRUE(admission.wants_refill(*client));
  client->state.pipelined_nanoseconds = 150'001;
  EXPECT_FALSE(admission.wants_refill(*client)) << "half of the budget of an isolated client";
}

TEST_F(AdmissionTest, ALaunchFollowsNothingWhileThePolicyHoldsItsClient) {
  const Admission admission(make_admission_rules({}, polled_device(), clock()), kernels);
  const auto before = running(client, 0), next = make_launch(client, before->queue, "n");
  EXPECT_TRUE(admission.may_follow(*next, *before));
  before->queue->is_held = true;
  EXPECT_FALSE(admission.may_follow(*next, *before)) << "it would keep the device after its turn";
  const Admission fifo(make_admission_rules({.pass_through = true}, polled_device(), clock()), kernels);
  EXPECT_TRUE(fifo.may_follow(*next, *before)) << "nothing asks the policy";
}

TEST_F(AdmissionTest, AClientWhoseNeighboursAreHeldPipelinesAsIfIsolated) {
  const Admission admission(make_admission_rules({}, polled_device(), clock()), kernels);
  const auto before = running(client, 0), neighbour = running(other, 1);
  const auto next = make_launch(client, before->queue, "n", {.workers = true});
  next->launch->kernel->group_nanoseconds = 200'000.0 / static_cast<double>(group_count(*next->launch));
  EXPECT_FALSE(admission.may_follow(*next, *before)) << "longer than 100 us beside others";
  EXPECT_FALSE(kernels.has_device(*client));
  neighbour->queue->is_held = true;
  EXPECT_TRUE(kernels.has_device(*client));
  EXPECT_FALSE(kernels.is_isolated(*client));
  EXPECT_TRUE(admission.may_follow(*next, *before)) << "and not than 300 us of a client that has the device";
}

TEST_F(AdmissionTest, ALaunchIsPipelinedBehindAKernelOfItsClient) {
  const Admission admission(make_admission_rules({}, polled_device(), clock()), kernels);
  const auto launch = make_launch(client, make_queue(), "k");
  launch->dependencies.unobserved = 1;
  EXPECT_FALSE(admission.is_pipelined(*launch)) << "behind a transfer only: the policy decides";
  running(client, 0);
  EXPECT_TRUE(admission.is_pipelined(*launch));
  const Admission fifo(make_admission_rules({.pass_through = true}, polled_device(), clock()), kernels);
  EXPECT_TRUE(fifo.bypasses_policy());
  EXPECT_TRUE(fifo.is_pipelined(*launch));
}

TEST_F(AdmissionTest, EightLaunchesMayFollowWorkersThatCountForThemselves) {
  const Admission admission({}, kernels);
  const auto before = running(client, 1, true);
  before->workers->table = std::make_shared<FakeTable>();
  before->workers->batches.push_back(std::make_shared<WorkerBatch>());
  const auto next = make_launch(client, before->queue, "n", {.workers = true});
  const auto may_follow = [&](std::uint32_t pipelined) {
    client->state.pipelined_launches = pipelined;
    return admission.may_follow(*next, *before);
  };
  EXPECT_TRUE(may_follow(0));
  EXPECT_TRUE(may_follow(7));
  EXPECT_FALSE(may_follow(8));
  next->launch->prints = true;
  EXPECT_FALSE(may_follow(0)) << "output is of one launch at a time";
  next->launch->prints = false;
  before->workers->beside_queue = true;
  EXPECT_FALSE(may_follow(0)) << "some of its workers are on other queues";
}

}  // namespace
}  // namespace wm::runtime::test
