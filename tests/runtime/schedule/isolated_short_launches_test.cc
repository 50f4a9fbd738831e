// Short launches under policies that decide on single SMs: the rule by itself, and the forms in which a scheduler runs
// the launches of a queue.
#include "runtime/schedule/rules/isolated_short_launches.h"

#include <gtest/gtest.h>

#include "runtime/schedule/fixture.h"
#include "runtime/schedule/polling_completion.h"
#include "runtime/schedule/scheduler.h"

namespace wm::runtime::test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

struct IsolatedShortLaunchesTest : testing::Test {
  [[nodiscard]] LaunchQuery query(double expected) const { return {*launch->launch, expected, 0, true, 0, 0}; }

  ManualClock clock;
  CommandPtr launch = make_launch(std::make_shared<FakeClient>(), make_queue(), "k", {.workers = true});
  IsolatedShortLaunches rule{300'000, clock};
};

TEST_F(IsolatedShortLaunchesTest, LaunchesBelowTheLimitRunUnmodified) {
  EXPECT_TRUE(rule.runs_unmodified(query(299'999)));
  EXPECT_FALSE(rule.runs_unmodified(query(300'000)));
  LaunchQuery unknown = query(0);
  unknown.expected.reset();
  EXPECT_FALSE(rule.runs_unmodified(unknown));
}

TEST_F(IsolatedShortLaunchesTest, AKernelThatRunsUnmodifiedGoesOnUntilItIsLongerByAQuarter) {
  launch->launch->kernel->ran_unmodified = true;
  EXPECT_TRUE(rule.runs_unmodified(query(374'999)));
  EXPECT_FALSE(rule.runs_unmodified(query(375'000)));
}

TEST_F(IsolatedShortLaunchesTest, AClientIsIsolatedATenthOfASecondAfterItsKernelsWereBesideOthers) {
  LaunchQuery beside = query(1000);
  beside.isolated = false;
  EXPECT_FALSE(rule.runs_unmodified(beside));
  LaunchQuery after = query(1000);
  after.shared_until = clock.time;
  EXPECT_FALSE(rule.runs_unmodified(after));
  clock.time += kSecond / 10 - 1;
  EXPECT_FALSE(rule.runs_unmodified(after));
  clock.time += 1;
  EXPECT_TRUE(rule.runs_unmodified(after));
}

TEST_F(IsolatedShortLaunchesTest, LaunchesArePipelinedUpToTwiceTheLimit) {
  LaunchQuery behind = query(200'000);
  behind.ahead = 399'999;
  EXPECT_TRUE(rule.may_pipeline(behind));
  behind.ahead = 400'000;
  EXPECT_FALSE(rule.may_pipeline(behind));
  behind.ahead = 0;
  launch->launch->may_run_unmodified = false;
  EXPECT_FALSE(rule.may_pipeline(behind)) << "the device's compiler does not have the original ready";
}

TEST(AdmissionRules, OnlyPoliciesThatDecideOnSmsHaveTheRuleOfIsolatedShortLaunches) {
  const ManualClock clock;
  const auto has_rule = [&](const AdmissionOptions& options, std::string_view name) {
    const auto rules = make_admission_rules(options, polled_device(), clock);
    return std::any_of(rules.begin(), rules.end(), [&](const auto& r) { return r->name() == name; });
  };
  EXPECT_TRUE(has_rule({.real_sms = true}, "isolated_short_launches"));
  EXPECT_FALSE(has_rule({.real_sms = true}, "short_launches"));
  EXPECT_FALSE(has_rule({.isolated_short_launch = 0, .real_sms = true}, "isolated_short_launches"));
  EXPECT_FALSE(has_rule({}, "isolated_short_launches"));
}

// Every kernel may run on all SMs.
struct NoDecisions final : policy::Policy {};

Capabilities device_with_sms() {
  Capabilities c = polled_device();
  c.shares_launches = c.limits_workers_by_unit = true;
  return c;
}

struct FormsOfLaunches : testing::Test {
  ~FormsOfLaunches() override {
    for (const auto& c : {client, other}) {
      c->gone = true;
      scheduler.drop(*c);
    }
    complete_all();
  }
  CommandPtr launch(const std::shared_ptr<FakeClient>& of, const std::shared_ptr<Queue>& on) {
    auto command = make_launch(of, on, "k", {.workers = true});
    command->launch->kernel = kernel;
    scheduler.add(command, {});
    return command;
  }
  // The device completes what it has, and what follows.
  void complete_all() {
    for (std::size_t i = 0; i < backend.submitted.size(); ++i) {
      if (backend.submitted[i].complete || backend.submitted[i].event == nullptr) continue;
      if (const auto& workers = backend.submitted[i].launch.workers) {
        const_cast<FakeCounters&>(static_cast<const FakeCounters&>(*workers->counters)).complete = true;
      }
      clock.time += 8000;
      backend.complete(i, status::kComplete, clock.time - 8000, clock.time);
      dynamic_cast<PollingCompletion&>(scheduler.completions()).poll();
    }
  }
  // "w" for each launch as workers and "u" for each unmodified one, in the order of their submission.
  [[nodiscard]] std::string forms() const {
    std::string all;
    for (const auto& s : backend.submitted) all += s.launch.workers ? 'w' : 'u';
    return all;
  }

  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>(), other = std::make_shared<FakeClient>();
  std::shared_ptr<Queue> queue = make_queue(), others_queue = make_queue();
  std::shared_ptr<Kernel> kernel = make_kernel("k");
  FakeBackend backend{device_with_sms()};
  ManualClock clock;
  ObjectCounts counts;
  Scheduler scheduler{backend, counts, std::make_unique<NoDecisions>(), {.real_sms = true}, clock};
};

TEST_F(FormsOfLaunches, ALaunchOfUnknownLengthIsWorkersAndAShortOneBehindNothingIsUnmodified) {
  launch(client, queue);
  complete_all();
  EXPECT_DOUBLE_EQ(kernel->group_nanoseconds, 1000) << "8 groups in 8 us";
  launch(client, queue);
  complete_all();
  EXPECT_EQ(forms(), "wu");
  EXPECT_EQ(client->state.statistics.as_workers, 1U);
  EXPECT_EQ(client->state.statistics.unmodified_short, 1U);
}

TEST_F(FormsOfLaunches, ShortLaunchesFollowWorkersAsWorkersUntilEightWereShort) {
  launch(client, queue);
  kernel->group_nanoseconds = 1000;
  for (int i = 0; i < 12; ++i) launch(client, queue);
  EXPECT_EQ(forms(), "wwwwwwwww") << "one of unknown length, and eight behind it";
  complete_all();
  EXPECT_EQ(forms(), "wwwwwwwwwuuuu");
  EXPECT_EQ(client->state.statistics.unmodified_short, 4U);
  EXPECT_EQ(client->state.statistics.outstanding, 0U);
}

TEST_F(FormsOfLaunches, LaunchesBecomeWorkersWhenTheyGrowLong) {
  kernel->group_nanoseconds = 1000;
  launch(client, queue);
  complete_all();
  kernel->group_nanoseconds = 46'000;  // 368 us a launch
  launch(client, queue);
  complete_all();
  kernel->group_nanoseconds = 47'000;
  launch(client, queue);
  EXPECT_EQ(forms(), "uuw");
}

TEST_F(FormsOfLaunches, BesideAnotherClientEveryLaunchIsWorkers) {
  kernel->group_nanoseconds = 1000;
  launch(client, queue);
  EXPECT_EQ(forms(), "u");
  launch(other, others_queue);
  complete_all();
  launch(client, queue);
  complete_all();
  EXPECT_EQ(forms(), "uww") << "the other client has paused for a moment only";
  clock.time += kSecond / 5;
  launch(client, queue);
  EXPECT_EQ(forms(), "uwwu");
}

}  // namespace
}  // namespace wm::runtime::test
