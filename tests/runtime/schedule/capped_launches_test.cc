// Launches under caps that are the same on all SMs: the rule by itself, and the forms in which a scheduler runs them.
#include "runtime/schedule/rules/capped_launches.h"

#include <gtest/gtest.h>

#include "runtime/schedule/fixture.h"
#include "runtime/schedule/polling_completion.h"
#include "runtime/schedule/scheduler.h"

namespace wm::runtime::test {
namespace {

constexpr double kMillisecond = 1e6;

TEST(CappedLaunches, OnlyShortLaunchesUnderCapsRunUnmodified) {
  const CommandPtr launch = make_launch(std::make_shared<FakeClient>(), make_queue(), "k", {.workers = true});
  const CappedLaunches rule{kMillisecond};
  LaunchQuery query{*launch->launch, kMillisecond - 1};
  EXPECT_FALSE(rule.runs_unmodified(query));
  query.is_capped_alike = true;
  EXPECT_TRUE(rule.runs_unmodified(query));
  query.ahead = kMillisecond;
  EXPECT_TRUE(rule.may_pipeline(query));
  query.ahead = kMillisecond + 1;
  EXPECT_FALSE(rule.may_pipeline(query)) << "a client that arrives would wait for all of them";
  query.expected = kMillisecond;
  EXPECT_FALSE(rule.runs_unmodified(query));
  query.expected.reset();
  EXPECT_FALSE(rule.runs_unmodified(query));
}

TEST(CappedLaunches, TheRuleIsForPoliciesThatDecideOnSms) {
  const ManualClock clock;
  Capabilities device = polled_device();
  device.shares_launches = true;
  EXPECT_NE(CappedLaunches::make({.capped_launch = 1, .real_sms = true}, device, clock), nullptr);
  EXPECT_EQ(CappedLaunches::make({.capped_launch = 1}, device, clock), nullptr);
  EXPECT_EQ(CappedLaunches::make({.real_sms = true}, device, clock), nullptr);
  EXPECT_EQ(CappedLaunches::make({.capped_launch = 1, .real_sms = true}, polled_device(), clock), nullptr);
}

// While there are two kernels the first may have one group on an SM and the second three; kernels on some SMs only, if
// it is told so.
struct Caps final : policy::Policy {
  explicit Caps(const bool& on_some) : on_some_sms(on_some) {}
  void on(const policy::KernelSetChanged&, policy::Machine& gpu) override {
    if (gpu.kernels().size() < 2) return;
    for (const policy::Kernel& k : gpu.kernels()) {
      for (const policy::Sm& sm : gpu.sms())
        gpu.cap(sm.id, k.id, on_some_sms && sm.index == 0 ? 0 : 1 + 2 * k.id.index);
    }
  }
  const bool& on_some_sms;
};

struct FormsUnderCaps : testing::Test {
  FormsUnderCaps() { kernel->group_nanoseconds = 10'000; }
  ~FormsUnderCaps() override {
    for (const auto& c : {first, second}) {
      c->gone = true;
      scheduler.drop(*c);
    }
    complete_all();
  }
  void launch(const std::shared_ptr<FakeClient>& of, const std::shared_ptr<Queue>& on) {
    auto command = make_launch(of, on, "k", {.workers = true});
    command->launch->kernel = kernel;
    scheduler.add(command, {});
  }
  void complete_all() {
    for (std::size_t i = 0; i < backend.submitted.size(); ++i) {
      if (backend.submitted[i].complete || backend.submitted[i].event == nullptr) continue;
      if (const auto& workers = backend.submitted[i].launch.workers) {
        const_cast<FakeCounters&>(static_cast<const FakeCounters&>(*workers->counters)).complete = true;
      }
      clock.time += 80'000;
      backend.complete(i, status::kComplete, clock.time - 80'000, clock.time);
      dynamic_cast<PollingCompletion&>(scheduler.completions()).poll();
    }
  }
  [[nodiscard]] std::string forms() const {
    std::string all;
    for (const auto& s : backend.submitted) all += s.launch.workers ? 'w' : 'u';
    return all;
  }
  static Capabilities device() {
    Capabilities c = polled_device();
    c.shares_launches = c.limits_workers_by_unit = true;
    return c;
  }

  bool on_some_sms = false;
  std::shared_ptr<FakeClient> first = std::make_shared<FakeClient>(), second = std::make_shared<FakeClient>();
  std::shared_ptr<Queue> queue = make_queue(), others_queue = make_queue();
  std::shared_ptr<Kernel> kernel = make_kernel("k");
  FakeBackend backend{device()};
  ManualClock clock;
  ObjectCounts counts;
  Scheduler scheduler{backend,
                      counts,
                      std::make_unique<Caps>(on_some_sms),
                      {.isolated_short_launch = 0, .capped_launch = kMillisecond, .real_sms = true},
                      clock};
};

TEST_F(FormsUnderCaps, LaunchesAfterTheDecisionRunUnmodifiedWithTheirPriorityAndSharedMemory) {
  launch(first, queue);
  launch(second, others_queue);
  EXPECT_EQ(forms(), "ww") << "before any caps";
  complete_all();
  launch(first, queue);
  launch(second, others_queue);
  launch(first, queue);
  EXPECT_EQ(forms(), "wwuuu") << "the last one behind the first of its queue";
  for (std::size_t i = 2; i < 5; ++i) EXPECT_NE(backend.submitted[i].sharing.min_group_bytes, 0U);
  EXPECT_EQ(backend.submitted[2].sharing.order_priority, 1);
  EXPECT_EQ(backend.submitted[3].sharing.order_priority, 0);
  EXPECT_EQ(backend.submitted[4].sharing.order_priority, 1);
  EXPECT_EQ(first->state.statistics.unmodified_capped, 2U);
  EXPECT_EQ(first->state.statistics.unmodified_short, 0U);
  EXPECT_EQ(first->state.statistics.as_workers, 1U);
}

TEST_F(FormsUnderCaps, LaunchesAreWorkersAgainWhenCapsDifferBetweenSms) {
  launch(first, queue);
  launch(second, others_queue);
  complete_all();
  launch(first, queue);
  on_some_sms = true;
  launch(second, others_queue);
  complete_all();
  launch(first, queue);
  launch(second, others_queue);
  EXPECT_EQ(forms().substr(forms().size() - 2), "ww");
}

TEST_F(FormsUnderCaps, LongLaunchesAreWorkers) {
  kernel->group_nanoseconds = kMillisecond;
  launch(first, queue);
  launch(second, others_queue);
  complete_all();
  kernel->group_nanoseconds = kMillisecond;
  launch(first, queue);
  launch(second, others_queue);
  EXPECT_EQ(forms(), "wwww");
}

}  // namespace
}  // namespace wm::runtime::test
