// When the polling thread looks at the device.
#include "runtime/schedule/polling_rig.h"

namespace wm::runtime::test {
namespace {

using namespace std::chrono_literals;

TEST_F(PollingThreadTest, LooksOftenWhereAClientCouldWait) {
  submit(*source, make_queue(), {.event = 3});
  EXPECT_EQ(looks_until(4), (Times{4, 4 + kOften, 4 + 2 * kOften, 4 + 3 * kOften}));
}

// A client could wait for a launch; it cannot for one without an event behind which nothing else is ordered.
struct Waiting {
  const char* what;
  std::uint64_t interval;
  std::function<void(PollingThreadTest&, const CommandPtr& launch)> wait;
};
void order_behind(const CommandPtr& launch, CommandPtr next, bool same_queue) {
  launch->dependencies.dependents.push_back({std::move(next), true, same_queue});
}
struct PollingIntervalTest : PollingThreadTest, testing::WithParamInterface<Waiting> {};

TEST_P(PollingIntervalTest, IsShortWhereSomebodyCouldWait) {
  const auto launch = submit(*source, make_queue());
  GetParam().wait(*this, launch);
  EXPECT_EQ(interval(), GetParam().interval) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Waits, PollingIntervalTest,
    testing::Values(Waiting{"nobody waits", kRarely, [](auto&, const auto&) {}},
                    Waiting{"a launch behind it on the device's queue", kRarely,
                            [](auto& t, const auto& launch) {
                              order_behind(launch, make_launch(t.client, launch->queue, "next", {.event = 4}), true);
                            }},
                    Waiting{"a launch that is submitted after it", kOften,
                            [](auto& t, const auto& launch) {
                              order_behind(launch, make_launch(t.client, launch->queue, "next"), false);
                            }},
                    Waiting{"a marker with an event completes with it", kOften,
                            [](auto& t, const auto& launch) {
                              order_behind(launch, make_command(t.client, launch->queue, CommandType::marker, 4), true);
                            }},
                    Waiting{"a marker that nobody can see", kRarely,
                            [](auto& t, const auto& launch) {
                              order_behind(launch, make_command(t.client, launch->queue, CommandType::marker), true);
                            }},
                    Waiting{"another client's kernel", kOften, [](auto& t, const auto& launch) {
                              const auto theirs = make_launch(t.other, make_queue(), "theirs");
                              launch->placement.kernel = {1};
                              theirs->placement.kernel = {2};
                              t.kernels.add(launch);
                              t.kernels.add(theirs);
                            }}));

TEST_F(PollingThreadTest, LooksOftenAtBatchesOfWorkers) {
  const auto queue = make_queue();
  Completion completion;
  completion.command = make_launch(client, queue, "k");
  completion.batch = std::make_shared<WorkerBatch>();
  backend.submit_marker(*queue->handle, &completion.event);
  source->submitted(queue->handle, true, std::move(completion));
  EXPECT_EQ(interval(), kOften);
}

TEST_F(PollingThreadTest, LooksOftenWhereOneOfThoseReportedTogetherIsAwaited) {
  const auto queue = make_queue();
  const LaunchOptions brief{.groups = 1, .group_nanoseconds = 10};
  submit(*source, queue, {.groups = 1, .group_nanoseconds = 10, .event = 3});
  submit(*source, queue, brief);
  submit(*source, queue, brief);
  EXPECT_EQ(interval(2, 3), kOften);
}

TEST_F(PollingThreadTest, SleepsBetweenLooksAfter300MicrosecondsWithoutACompletion) {
  submit(*source, make_queue(), {.event = 3});
  const Times looks = looks_until(122);
  EXPECT_EQ(looks[119] - looks[118], kOften);
  EXPECT_EQ(looks[120] - looks[119], kOften) << "300 µs are not over";
  EXPECT_EQ(looks[121] - looks[120], kRarely) << "a sleep of 15 µs";
}

TEST_F(PollingThreadTest, NeverSleepsWhereProcessorsAreFree) {
  make_source(false, 50us);
  submit(*source, make_queue(), {.event = 3});
  const Times looks = looks_until(200);
  EXPECT_EQ(looks.back(), 4 + 199 * kOften);
}

TEST_F(PollingThreadTest, ACompletionBeginsTheTimeWithoutOneAgain) {
  submit(*source, make_queue(), {.event = 3});
  submit(*source, make_queue(), {.event = 4});
  // The first completes at its hundredth look, when both have been looked at 100 times.
  const Times looks = looks_until(
      [&](std::size_t look) {
        if (look == 199) backend.complete(0);
        if (look == 310) backend.complete(1);
      },
      2);
  EXPECT_LT(looks[309] - looks[308], kRarely) << "110 looks after the first has completed the thread does not sleep";
}

// --- Launches whose time is known are not looked at before half of it has passed, and at most for 20 µs.

struct Expected {
  double nanoseconds;
  std::uint64_t first_look;
};
TEST_F(PollingThreadTest, LooksFirstAfterHalfOfTheExpectedTime) {
  for (const auto& [nanoseconds, first_look] :
       {Expected{10'000, 5'000}, Expected{39'000, 19'500}, Expected{40'000, 20'000}, Expected{1e9, 20'000}}) {
    make_source(false);
    const std::size_t first = backend.submitted.size(), completed = handler.all.size();
    submit(*source, make_queue(), {.groups = 1, .group_nanoseconds = nanoseconds, .event = 3});
    const Times looks = looks_until(1, first, completed + 1);
    EXPECT_GE(looks[0], first_look) << nanoseconds;
    EXPECT_LT(looks[0], first_look + kOften) << nanoseconds;
  }
}

TEST_F(PollingThreadTest, TimesOfLaunchesThatAreReportedTogetherAddUp) {
  const auto queue = make_queue();
  for (EventId i = 1; i < 4; ++i) submit(*source, queue, {.groups = 1, .group_nanoseconds = 8'000, .event = i});
  const Times looks = looks_until(1, 2, 3);
  EXPECT_GE(looks[0], 12'000U);
  EXPECT_LT(looks[0], 12'000 + kOften);
}

TEST_F(PollingThreadTest, LooksAtOnceWhereTheDeviceMeasuresNoTimes) {
  submit(*source, make_queue(true, false), {.groups = 1, .group_nanoseconds = 30'000, .event = 3});
  EXPECT_EQ(looks_until(1), Times{4});
}

TEST_F(PollingThreadTest, ALaunchIsExpectedToRunSinceTheOneBeforeItCompleted) {
  const auto queue = make_queue();
  submit(*source, queue, {.groups = 1, .group_nanoseconds = 30'000, .event = 3});
  submit(*source, queue, {.groups = 1, .group_nanoseconds = 30'000, .event = 4});
  const Times looks = looks_until([&](std::size_t look) { backend.complete(look - 1); }, 2);
  ASSERT_EQ(looks.size(), 2U);
  EXPECT_GE(looks[1] - looks[0], 15'000U) << "half of its time after the first was seen to complete";
  EXPECT_LT(looks[1] - looks[0], 15'000 + 2 * kOften);
  EXPECT_EQ(queue->last_observed, handler.all[1].observed);
}

// --- Flags: the driver is asked rarely about events that have one, in case that they fail.

TEST_F(PollingThreadTest, AsksTheDriverEvery100MicrosecondsAboutEventsWithAFlag) {
  make_source(true);
  submit(*source, make_queue(), {.event = 3});
  client.swap(other);
  submit(*source, make_queue(), {.event = 4});  // another client is on the device: it gets a flag
  backend.complete(0);
  const Times looks = looks_until([&](std::size_t look) { return look == 5 ? backend.complete(1, -9999) : void(); }, 2);
  // The first look at both, then at the one with a flag only.
  ASSERT_EQ(looks.size(), 6U) << "the last one asks for the status of the failure";
  for (std::size_t i = 2; i < 5; ++i) {
    EXPECT_GT(looks[i] - looks[i - 1], 100'000U);
    EXPECT_LT(looks[i] - looks[i - 1], 100'000 + kRarely);
  }
  EXPECT_EQ(handler.all[1].status, -9999);
}

TEST_F(PollingThreadTest, SeesASetFlagWithoutTheDriver) {
  make_source(true);
  submit(*source, make_queue(), {.event = 3});
  client.swap(other);
  submit(*source, make_queue(), {.event = 4});
  std::size_t looks = 0;
  looks_until(
      [&](std::size_t look) {
        looks = look;
        if (look == 2) backend.complete(1);  // the flag is seen at the next look, the driver is not asked again
        if (look == 20) backend.complete(0);
      },
      2);
  EXPECT_EQ(handler.all[0].command->event, 4U);
  EXPECT_LT(handler.all[0].observed, handler.all[1].observed);
  EXPECT_EQ(looks, 20U);
}

// --- Launches without an event wait 50 µs for one that follows; then a marker reports them.

TEST_F(PollingThreadTest, AMarkerFollowsAfter50MicrosecondsWithoutALaunch) {
  const std::uint64_t start = clock.time;
  submit(*source, make_queue(), {.groups = 1, .group_nanoseconds = 1000}, true);
  Times choices;
  handler.on_choice = [&] { choices.push_back(clock.time - start); };
  const Times looks = looks_until(1, 1);
  EXPECT_EQ(backend.log(), "k- marker");
  EXPECT_GE(looks[0], 50'000U);
  EXPECT_LT(looks[0], 50'000 + kOften);
  ASSERT_GT(choices.size(), 3U);
  EXPECT_EQ(choices[1] - choices[0], 2'503U) << "between two looks for an event";
}

TEST_F(PollingThreadTest, ALineThatWaitsToBeFlushedIsFlushedAfter50Microseconds) {
  const auto queue = make_queue();
  submit(*source, queue, {.groups = 1, .event = 3}, true);
  ASSERT_EQ(backend.flushes, 0U);
  std::uint64_t flushed_at = 0;
  const Times looks = looks_until([&](std::size_t) {
    if (flushed_at == 0 && backend.flushes != 0) flushed_at = clock.time;
    if (flushed_at != 0) backend.complete(0);
  });
  EXPECT_GT(looks.back(), 50'000U);
  EXPECT_LT(looks.back(), 50'000 + 2 * kOften);
  EXPECT_EQ(queue->unflushed, 0U);
}

TEST_F(PollingThreadTest, EventsAreChosenAgainOnlyForALineThatWaits) {
  std::size_t choices = 0;
  handler.on_choice = [&] { ++choices; };
  submit(*source, make_queue(), {.groups = 1, .event = 3}, true);
  looks_until(100);
  EXPECT_LE(choices, 4U) << "at first, after 50 µs, when it has been flushed, and after the end";
  EXPECT_EQ(reports.size(), 1U);
}

TEST_F(PollingThreadTest, ALineWithoutAnEventGetsItsMarkerWhileAnotherOneIsWatched) {
  submit(*source, make_queue());
  submit(*source, make_queue(), {.groups = 1, .group_nanoseconds = 1000}, true);
  std::uint64_t marked = 0;
  const std::uint64_t start = clock.time;
  looks_until(
      [&](std::size_t look) {
        if (marked == 0 && backend.submitted.size() == 3) {
          marked = clock.time - start;
          backend.complete(0);
          backend.complete(2);
        }
        if (look == 1000) std::abort();  // it never comes
      },
      2);
  EXPECT_GT(marked, 50'000U);
  EXPECT_LT(marked, 50'000 + 2 * kRarely);
}

TEST_F(PollingThreadTest, LooksOftenAtEveryCommandOfAQueueOutOfOrder) {
  submit(*source, make_queue(false));
  EXPECT_EQ(interval(), kOften);
}

// --- What happens while the thread polls.

TEST_F(PollingThreadTest, AnExpectedCommandChangesTheEventsAtOnce) {
  const auto queue = make_queue();
  submit(*source, queue);
  const auto second = submit(*source, make_queue(), {.groups = 1, .group_nanoseconds = 1000}, true);
  Times looks = looks_until(
      [&](std::size_t look) {
        if (look == 2) {
          const std::lock_guard lock(handler.lock);
          source->expect(*second);
        }
        if (look == 3) backend.complete(0);
        if (look == 4) backend.complete(2);
      },
      2);
  EXPECT_LT(looks[2] - looks[1], 20U) << "without the pause of 15 µs";
  EXPECT_EQ(reports.size(), 1U) << "a change is no completion";
}

TEST_F(PollingThreadTest, ALaunchOnAnotherQueueIsLookedAtAtOnce) {
  submit(*source, make_queue());
  Times looks = looks_until(
      [&](std::size_t look) {
        if (look == 2) {
          const std::lock_guard lock(handler.lock);
          submit(*source, make_queue());
        }
        if (look == 4) {
          backend.complete(0);
          backend.complete(1);
        }
      },
      2);
  EXPECT_LT(looks[2] - looks[1], 20U);
  EXPECT_LT(looks[3] - looks[2], 20U);
}

TEST_F(PollingThreadTest, ReportsWhenAnAlarmIsDueThoughNothingHasCompleted) {
  handler.alarm = clock.time + 30'000;
  submit(*source, make_queue(), {.event = 3});
  looks_until(20);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_GE(reports[0], 30'000U);
  EXPECT_LT(reports[0], 30'000 + kOften + 2);
}

// Before a command and after it, without an alarm and with a late one.
TEST_F(PollingThreadTest, SleepsWhileNothingIsOnTheDevice) {
  const std::uint64_t in_an_hour = SteadyClock().now() + 3'600'000'000'000;
  clock.tick = 1;
  for (const std::optional<std::uint64_t> alarm : {std::optional<std::uint64_t>(), {in_an_hour}}) {
    make_source(false);
    handler.alarm = alarm;
    std::atomic<pid_t> thread{0};
    handler.on_choice = [&] { thread = ::gettid(); };
    source->start();
    while (thread == 0) std::this_thread::yield();
    wait_until_asleep(thread);
    {
      const std::lock_guard lock(handler.lock);
      const std::size_t launch = backend.submitted.size();
      submit(*source, make_queue(), {.event = 3});
      backend.complete(launch);
    }
    const auto count = [&] {
      const std::lock_guard lock(handler.lock);
      return handler.all.size();
    };
    while (count() != (alarm ? 2U : 1U)) std::this_thread::yield();
    wait_until_asleep(thread);
    source->stop();
  }
}

TEST_F(PollingThreadTest, ReportsWhenAnAlarmIsDueWhileNothingIsOnTheDevice) {
  std::promise<std::uint64_t> reported;
  handler.alarm = clock.time + 30'000;
  handler.on_complete = [&] {
    if (std::exchange(handler.alarm, std::nullopt)) reported.set_value(clock.time);
  };
  clock.tick = 1;
  source->start();
  EXPECT_GE(reported.get_future().get(), 1'030'000U);
  source->stop();
}

// The policy may set an alarm when a launch arrives that it holds: nothing is submitted then.
TEST_F(PollingThreadTest, HearsOfAnAlarmWhileNothingIsOnTheDevice) {
  clock.tick = 1;
  for (const bool sleeps : {false, true}) {
    make_source(false, sleeps ? 2us : 50us);
    std::promise<pid_t> started;
    handler.on_choice = [&, is_first = true]() mutable {
      if (std::exchange(is_first, false)) started.set_value(::gettid());
    };
    source->start();
    const pid_t thread = started.get_future().get();
    if (sleeps) wait_until_asleep(thread);
    std::promise<void> reported;
    {
      const std::lock_guard lock(handler.lock);
      handler.on_choice = {};
      handler.on_complete = [&] {
        if (std::exchange(handler.alarm, std::nullopt)) reported.set_value();
      };
      handler.alarm = clock.time + 1000;
      source->note_alarm();
    }
    EXPECT_EQ(reported.get_future().wait_for(20s), std::future_status::ready);
    source->stop();
  }
}

TEST_F(PollingThreadTest, HearsOfAnEarlierAlarmWhileItWatchesTheDevice) {
  handler.alarm = clock.time + 3'600'000'000'000;
  submit(*source, make_queue(), {.event = 3});
  std::uint64_t alarm = 0;
  looks_until([&](std::size_t look) {
    if (look == 2) {
      const std::lock_guard lock(handler.lock);
      handler.alarm = alarm = clock.time + 10'000;
      source->note_alarm();
    }
    if (look == 20) backend.complete(0);
  });
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_LT(reports[0], 10'000 + 2 * kOften + 20);
}

}  // namespace
}  // namespace wm::runtime::test
