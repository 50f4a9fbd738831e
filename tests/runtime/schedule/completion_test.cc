// How completions are observed: by callback, and by polling.
#include "runtime/schedule/completion.h"

#include <future>
#include <gtest/gtest.h>

#include "runtime/schedule/callback_completion.h"
#include "runtime/schedule/completion_rig.h"
#include "runtime/schedule/polling_completion.h"

namespace wm::runtime::test {
namespace {

struct CallbackTest : CompletionTest {
  CallbackTest() : CompletionTest(callback_device()) {}
  CallbackCompletion source{handler, backend, counts};
};
struct PollingTest : CompletionTest {
  PollingTest() : CompletionTest(polled_device()) { backend.has_flags = true; }
  PollingCompletion source{handler, {backend, kernels, admission, clock, device_clock, false}, nullptr};
  // Commands and batches of workers that have an event.
  CommandPtr submit_with_event(const std::shared_ptr<Queue>& queue, CommandPtr command, bool as_batch) {
    Completion completion;
    completion.command = command;
    if (as_batch) completion.batch = std::make_shared<WorkerBatch>();
    backend.submit_marker(*queue->handle, &completion.event);
    source.submitted(queue->handle, queue->in_order, std::move(completion));
    return command;
  }
};

using Commands = std::vector<CommandPtr>;

TEST_F(CallbackTest, CompletionsOfTheDriverAreHandedOn) {
  const auto queue = make_queue();
  const auto a = submit(source, queue), b = submit(source, queue);
  EXPECT_EQ(backend.flushes, 2U);
  backend.complete(1, -5);
  source.deliver();
  EXPECT_EQ(completed(), Commands{b});
  EXPECT_EQ(handler.all[0].status, -5);
  backend.complete(0);
  source.deliver();
  EXPECT_EQ(completed(), (Commands{b, a}));
  EXPECT_EQ(handler.all[1].status, status::kComplete);
}

TEST_F(CallbackTest, TheThreadReportsAlarmsAndGoesOn) {
  std::promise<void> alarmed, completed;
  handler.alarm = 1;  // long ago
  handler.on_complete = [&] {
    if (std::exchange(handler.alarm, std::nullopt)) alarmed.set_value();
    if (handler.all.size() == 1) completed.set_value();
  };
  source.start();
  alarmed.get_future().wait();
  {
    const std::lock_guard lock(handler.lock);
    submit(source, make_queue());
  }
  backend.complete(0);
  completed.get_future().wait();
  source.stop();
  EXPECT_EQ(handler.all.size(), 1U);
}

TEST_F(CallbackTest, TheThreadHearsOfAnAlarmWhileNothingIsOnTheDevice) {
  std::promise<void> alarmed;
  handler.on_complete = [&] {
    if (std::exchange(handler.alarm, std::nullopt)) alarmed.set_value();
  };
  source.start();
  for (const std::uint64_t alarm : {SteadyClock().now() + 3'600'000'000'000, std::uint64_t{1}}) {
    const std::lock_guard lock(handler.lock);
    handler.alarm = alarm;
    source.note_alarm();
  }
  EXPECT_EQ(alarmed.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  source.stop();
}

TEST_F(CallbackTest, WhatWasReportedBeforeTheEndIsHandedOn) {
  submit(source, make_queue());
  backend.complete(0);
  source.start();
  source.stop();
  EXPECT_EQ(handler.all.size(), 1U);
}

TEST_F(CallbackTest, EveryLaunchHasAnEvent) {
  const auto launch = make_launch(client, make_queue(), "k", {.group_nanoseconds = 1});
  launch->next_queued = true;
  EXPECT_FALSE(source.can_skip_event(*launch));
}

TEST_F(PollingTest, NothingHasCompletedUntilItsEventSaysSo) {
  const auto a = submit(source, make_queue());
  EXPECT_FALSE(source.poll());
  clock.time += 5000;
  backend.complete(0);
  EXPECT_TRUE(source.poll());
  EXPECT_EQ(completed(), Commands{a});
  EXPECT_EQ(handler.all[0].observed, clock.time);
}

TEST_F(PollingTest, CommandsBeforeACompletedOneOnItsQueueHaveCompleted) {
  const auto queue = make_queue();
  // Short enough to be reported together.
  const LaunchOptions short_launch{.groups = 1, .group_nanoseconds = 1000};
  const auto a = submit(source, queue, short_launch), b = submit(source, queue, short_launch);
  backend.complete(1);
  EXPECT_TRUE(source.poll());
  EXPECT_EQ(completed(), (Commands{a, b}));
  EXPECT_EQ(handler.all[0].observed_together, 2U);
  EXPECT_EQ(handler.all[1].observed_together, 1U);
}

TEST_F(PollingTest, AQueueOutOfOrderIsObservedCommandByCommand) {
  const auto queue = make_queue(false);
  const auto a = submit(source, queue), b = submit(source, queue);
  backend.complete(1);
  EXPECT_TRUE(source.poll());
  EXPECT_EQ(completed(), Commands{b});
  backend.complete(0);
  EXPECT_TRUE(source.poll());
  EXPECT_EQ(completed(), (Commands{b, a}));
}

TEST_F(PollingTest, LaunchesThatAreFollowedShareAnEvent) {
  const auto queue = make_queue();
  const LaunchOptions short_launch{.groups = 1, .group_nanoseconds = 1000};
  const auto a = submit(source, queue, short_launch, true), b = submit(source, queue, short_launch, true);
  const auto last = submit(source, queue, short_launch, false);
  EXPECT_EQ(backend.log(), "k- k- k");
  EXPECT_EQ(backend.flushes, 1U) << "with the last one";
  backend.complete(2);
  EXPECT_TRUE(source.poll());
  EXPECT_EQ(completed(), (Commands{a, b, last}));
}

TEST_F(PollingTest, FifteenLaunchesOrAHundredMicrosecondsShareAnEvent) {
  const auto events = [&](const LaunchOptions& options, int launches) {
    const auto queue = make_queue();
    const std::size_t first = backend.submitted.size();
    for (int i = 0; i < launches; ++i) submit(source, queue, options, true);
    std::string text;
    for (std::size_t i = first; i < backend.submitted.size(); ++i) {
      text += backend.submitted[i].event != nullptr ? 'e' : '-';
    }
    return text;
  };
  EXPECT_EQ(events({.groups = 1, .group_nanoseconds = 1000}, 17), "---------------e-");
  EXPECT_EQ(events({.groups = 1, .group_nanoseconds = 25'000}, 6), "----e-") << "four of 25 µs";
  EXPECT_EQ(events({.groups = 1, .group_nanoseconds = 100'000}, 2), "-e");
  EXPECT_EQ(events({.groups = 1, .group_nanoseconds = 100'001}, 2), "ee");
  EXPECT_EQ(events({.groups = 1, .group_nanoseconds = 0}, 2), "ee") << "its time is not known";
}

TEST_F(PollingTest, OnlyALaunchWithAnEventBeginsTheCountAgain) {
  const LaunchOptions brief{.groups = 1, .group_nanoseconds = 1000};
  const auto launches_until_event = [&](const auto& between) {
    const auto queue = make_queue();
    for (int i = 0; i < 10; ++i) submit(source, queue, brief, true);
    between(queue);
    const std::size_t first = backend.submitted.size();
    for (int i = 0; i < 16; ++i) submit(source, queue, brief, true);
    std::size_t last = first;
    while (backend.submitted[last].event == nullptr) ++last;
    return last - first;
  };
  EXPECT_EQ(launches_until_event([](const auto&) {}), 5U);
  EXPECT_EQ(launches_until_event(
                [&](const auto& queue) { submit_with_event(queue, make_transfer(backend, client, queue, 3), false); }),
            5U)
      << "a transfer";
  EXPECT_EQ(
      launches_until_event([&](const auto& queue) { submit_with_event(queue, make_launch(client, queue, "k"), true); }),
      5U)
      << "a batch of workers";
  EXPECT_EQ(launches_until_event(
                [&](const auto& queue) { submit_with_event(queue, make_launch(client, queue, "k"), false); }),
            15U);
  EXPECT_EQ(launches_until_event([&](const auto& queue) {
              const auto awaited = submit(source, queue, brief, true);
              source.expect(*awaited);
            }),
            15U)
      << "a marker behind a launch";
}

TEST_F(PollingTest, SevenLaunchesWaitToBeFlushedWithTheEighth) {
  const auto queue = make_queue();
  for (std::size_t flushes : {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2}) {
    submit(source, queue, {.event = 3}, true);
    EXPECT_EQ(backend.flushes, flushes) << backend.submitted.size();
  }
}

TEST_F(PollingTest, ABatchOfWorkersIsNotReportedTogetherWithOtherCommands) {
  for (const bool batch_first : {true, false}) {
    const auto queue = make_queue();
    const std::size_t first = backend.submitted.size(), reported = handler.all.size();
    const LaunchOptions brief{.groups = 1, .group_nanoseconds = 10};
    const auto a = submit_with_event(queue, make_launch(client, queue, "a", brief), batch_first);
    const auto b = submit_with_event(queue, make_launch(client, queue, "b", brief), !batch_first);
    backend.complete(first + 1);
    EXPECT_FALSE(source.poll()) << "the first one is looked at";
    backend.complete(first);
    EXPECT_TRUE(source.poll());
    EXPECT_EQ(handler.all.size(), reported + 1);
    EXPECT_TRUE(source.poll());
    EXPECT_EQ(handler.all.back().command, b);
  }
}

TEST_F(PollingTest, AFlagIsReleasedWithItsCommandAndAFailureFoundByTheDriver) {
  PollingCompletion flagged{
      handler, {backend, kernels, admission, clock, device_clock, false}, backend.make_completion_flags()};
  submit(flagged, make_queue(), {.event = 3});
  client.swap(other);
  submit(flagged, make_queue(), {.event = 4});
  EXPECT_EQ(backend.open_flags, 1U);
  backend.submitted[1].event = nullptr;  // the fake flag looks at events, and this one will never be set
  EXPECT_TRUE(flagged.poll());
  EXPECT_EQ(backend.open_flags, 0U);
  backend.complete(0);
  EXPECT_TRUE(flagged.poll());
}

TEST_F(PollingTest, ADeviceThatRecordedNoTimesIsNotBelieved) {
  submit(source, make_queue(), {.event = 4});
  backend.complete(0, status::kComplete, 0, 0);
  EXPECT_TRUE(source.poll());
  EXPECT_FALSE(handler.all[0].times);
}

TEST_F(PollingTest, LaunchesWhoseMarkerFailsFailWithIt) {
  const auto a = submit(source, make_queue(), {.groups = 1, .group_nanoseconds = 1000}, true);
  backend.next_status = -5;
  clock.time += 60'000;
  EXPECT_TRUE(source.poll());
  EXPECT_EQ(completed(), Commands{a});
  EXPECT_EQ(handler.all[0].status, -5);
  EXPECT_EQ(handler.all[0].event, nullptr);
}

TEST_F(PollingTest, LaunchesThatSomebodyCouldWaitForHaveEvents) {
  const auto queue = make_queue();
  submit(source, queue, {.group_nanoseconds = 1000, .event = 3}, true);
  submit(source, queue, {.groups = 1}, true);  // its duration is not known
  submit(source, queue, {.groups = 1, .group_nanoseconds = 200'000}, true);
  EXPECT_EQ(backend.log(), "k k k");
  for (std::size_t i = 0; i < 3; ++i) backend.complete(i);
  while (source.poll()) {
  }
  EXPECT_EQ(handler.all.size(), 3U);
}

TEST_F(PollingTest, AMarkerIsSubmittedWhereNothingFollows) {
  const auto queue = make_queue();
  const auto a = submit(source, queue, {.groups = 1, .group_nanoseconds = 1000}, true);
  EXPECT_FALSE(source.poll());
  EXPECT_EQ(backend.log(), "k-") << "another launch may follow at once";
  clock.time += 60'000;
  EXPECT_FALSE(source.poll());
  EXPECT_EQ(backend.log(), "k- marker");
  backend.complete(1);
  EXPECT_TRUE(source.poll());
  EXPECT_EQ(completed(), Commands{a});
}

TEST_F(PollingTest, AnExpectedCommandGetsAMarkerAtOnce) {
  const auto a = submit(source, make_queue(), {.groups = 1, .group_nanoseconds = 1000}, true);
  source.expect(*a);
  EXPECT_EQ(backend.log(), "k- marker");
  backend.complete(1);
  EXPECT_TRUE(source.poll());
}

TEST_F(PollingTest, TimesAreAskedOnlyWhereAClientMaySeeThem) {
  const auto queue = make_queue();
  submit(source, queue, {.event = 4});
  submit(source, make_queue());
  backend.complete(0, status::kComplete, 100, 250);
  backend.complete(1, status::kComplete, 100, 250);
  EXPECT_TRUE(source.poll());
  ASSERT_EQ(handler.all.size(), 2U);
  ASSERT_TRUE(handler.all[0].times);
  EXPECT_EQ(handler.all[0].times->ended, 250U);
  EXPECT_FALSE(handler.all[1].times);
  EXPECT_EQ(backend.open_events, 0U) << "the events are released";
}

TEST_F(PollingTest, AFailureIsReportedWithItsStatus) {
  submit(source, make_queue());
  backend.complete(0, -9999);
  EXPECT_TRUE(source.poll());
  EXPECT_EQ(handler.all[0].status, -9999);
}

}  // namespace
}  // namespace wm::runtime::test
