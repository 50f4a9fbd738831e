// How long threads spin before they sleep, and who wakes them.
#include "runtime/protocol/futex.h"

#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

#include "runtime/helper/thread_state.h"
#include "runtime/protocol/message.h"
#include "runtime/protocol/ring.h"
#include "runtime/protocol/shared_area.h"

namespace wm::runtime {
namespace {

using namespace std::chrono_literals;

TEST(SpinTime, GrowsWithTheProcessorsOfTheHost) {
  struct Row {
    unsigned processors;
    std::chrono::nanoseconds spin;
    unsigned awake;  // threads that may spin longer
  };
  for (const Row& row : {Row{1, 2us, 0}, Row{3, 2us, 0}, Row{4, 20us, 0}, Row{7, 20us, 0}, Row{8, 50us, 4},
                         Row{11, 50us, 5}, Row{12, 50us, 6}, Row{64, 50us, 32}}) {
    EXPECT_EQ(spin_time_with(row.processors), row.spin) << row.processors;
    EXPECT_EQ(max_awake_with(row.processors), row.awake) << row.processors;
  }
  EXPECT_EQ(spin_time(), spin_time_with(std::thread::hardware_concurrency()));
}

// `ready` is checked 64 times between two looks at the clock, and once at the end.
constexpr int kChecks = 65;

// On a host whose processors nobody else needs.
long never_preempted() { return 0; }

TEST(AwakeThreads, AThreadThatMayNotStayAwakeGivesUpAfterItsSpin) {
  AwakeThreads none(0, 0ns, never_preempted);
  int checks = 0;
  EXPECT_FALSE(none.wait([&] { return ++checks > 10'000; }, 1h));
  EXPECT_EQ(checks, kChecks);
}

TEST(AwakeThreads, AThreadThatMayStayAwakeWaitsOn) {
  AwakeThreads one(1, 0ns, never_preempted);
  int checks = 0;
  EXPECT_TRUE(one.wait([&] { return ++checks > 10'000; }, 1h));
  EXPECT_EQ(checks, 10'001);
}

TEST(AwakeThreads, WhatIsReadyDuringTheSpinTakesNoPlace) {
  AwakeThreads none(0, 1h, never_preempted);
  int checks = 0;
  EXPECT_TRUE(none.wait([&] { return ++checks > 10'000; }, 0ns));
}

// A thread that stays awake calls `ready`, which here waits itself, as a second thread would.
TEST(AwakeThreads, OnlySoManyStayAwakeAtOnce) {
  AwakeThreads one(1, 0ns, never_preempted);
  for (int round = 0; round < 3; ++round) {  // a place is free again when its thread has gone
    int outer = 0, inner = 0;
    const auto inner_ready = [&] { return ++inner > 10'000; };
    const auto outer_ready = [&] {
      if (++outer != kChecks + 10) return outer > kChecks + 10;
      EXPECT_FALSE(one.wait(inner_ready, 1h)) << "the place is taken";
      return false;
    };
    EXPECT_TRUE(one.wait(outer_ready, 1h));
    EXPECT_EQ(inner, kChecks);
  }
}

TEST(AwakeThreads, AThreadWhoseProcessorOthersNeedSleeps) {
  static long count;
  count = 7;
  AwakeThreads one(1, 0ns, [] { return count++; });
  EXPECT_FALSE(one.wait([] { return false; }, 1h));
  EXPECT_EQ(count, 9) << "counted at the beginning, and once more";
  EXPECT_GE(preemptions(), 0);
}

TEST(AwakeTime, IsTwiceALatePauseIfThatWasShort) {
  struct Row {
    std::chrono::nanoseconds pause, awake;
  };
  AwakeTime time;
  EXPECT_EQ(time.get(), 1ms);
  for (const Row& row :
       {Row{1100us, 2200us}, Row{4ms, 8ms}, Row{10ms, 10ms}, Row{6ms, 10ms}, Row{200us, 1ms}, Row{3ms, 6ms}}) {
    time.note_pause(row.pause);
    EXPECT_EQ(time.get(), row.awake) << row.pause.count();
  }
}

TEST(AwakeTime, StaysAsItIsAfterALongPauseBetweenShortOnes) {
  AwakeTime time;
  time.note_pause(4ms);
  for (int i = 0; i < 5; ++i) {
    time.note_pause(100ms);
    EXPECT_EQ(time.get(), 8ms);
    if (i % 2 == 0) {
      time.note_ready();
    } else {
      time.note_pause(4ms);
    }
  }
}

TEST(AwakeTime, HalvesWithEachFurtherLongPause) {
  AwakeTime time;
  time.note_pause(4ms);
  for (const std::chrono::nanoseconds awake : {8'000'000ns, 4'000'000ns, 2'000'000ns, 1'000'000ns, 1'000'000ns}) {
    time.note_pause(10001us);
    EXPECT_EQ(time.get(), awake);
  }
}

TEST(AwakeTime, HasAMaximum) {
  AwakeTime none(0ns), long_one(50ms);
  EXPECT_EQ(none.get(), 0ns);
  none.note_pause(1us);
  EXPECT_EQ(none.get(), 0ns);
  long_one.note_pause(20ms);
  EXPECT_EQ(long_one.get(), 40ms);
}

// --- Sleeping. A thread that nobody wakes would sleep for ten minutes.
constexpr int kLong = 600'000;  // milliseconds

// Runs `sleep` in a thread, and `wake` when that thread sleeps.
template <typename Sleep, typename Wake>
void while_asleep(Sleep sleep, Wake wake) {
  std::atomic<pid_t> id{0};
  std::thread thread([&] {
    id = ::gettid();
    sleep();
  });
  while (id == 0) std::this_thread::yield();
  test::wait_until_asleep(id);
  wake();
  thread.join();
}

TEST(Sleeping, EndsWhenTheWordIsNotTheExpectedOne) {
  const Word word{3};
  sleep_on(word, 4, kLong);
}

TEST(Sleeping, EndsAfterItsTime) {
  const Word word{3};
  const auto start = std::chrono::steady_clock::now();
  sleep_on(word, 3, 5);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 5ms);
}

TEST(Sleeping, AWatcherOfAllEventsIsWokenByAnyOfThem) {
  Descriptor file;
  const auto area = SharedArea::make(file);
  ASSERT_TRUE(area.ok());
  while_asleep(
      [&] {
        area->header().watchers = 1;
        sleep_on(area->header().changes, 0, kLong);
      },
      [&] { publish(area->header(), area->events()[5], 7); });
  EXPECT_EQ(area->header().changes, 1U);
}

TEST(Sleeping, AWaiterOfAnEventIsWoken) {
  Descriptor file;
  const auto area = SharedArea::make(file);
  ASSERT_TRUE(area.ok());
  EventRecord& event = area->events()[5];
  event.state = 2;
  while_asleep(
      [&] {
        event.sleepers = 1;
        sleep_on(event.state, 2, kLong);
      },
      [&] { publish(area->header(), event, 0); });
  EXPECT_EQ(event.state, 0U);
}

struct SleepingRing : testing::Test {
  RingPositions ends;
  std::vector<std::byte> bytes = std::vector<std::byte>(sizeof(MessageHeader)), message;
  RingWriter writer{&ends, bytes};
  RingReader reader{&ends, bytes};
  // A message that fills the ring.
  [[nodiscard]] bool write() {
    MessageHeader header{};
    header.size = sizeof header;
    return writer.try_write(std::as_bytes(std::span(&header, 1)));
  }
};

TEST_F(SleepingRing, AMessageWakesItsReader) {
  while_asleep(
      [&] {
        reader.wait_for_message(kLong);
        EXPECT_EQ(reader.try_read(message), RingReader::Outcome::message);
      },
      [&] {
        EXPECT_EQ(ends.reader_sleeps, 1U);
        EXPECT_TRUE(write());
      });
  EXPECT_EQ(ends.reader_sleeps, 0U);
}

TEST_F(SleepingRing, AReaderDoesNotSleepWhereAMessageIs) {
  ASSERT_TRUE(write());
  reader.wait_for_message(kLong);
  EXPECT_EQ(ends.reader_sleeps, 0U);
}

TEST_F(SleepingRing, AReaderKnowsWhetherThereIsAMessage) {
  EXPECT_FALSE(reader.has_message());
  ASSERT_TRUE(write());
  EXPECT_TRUE(reader.has_message());
  ASSERT_EQ(reader.try_read(message), RingReader::Outcome::message);
  EXPECT_FALSE(reader.has_message());
}

TEST_F(SleepingRing, RoomWakesAWriter) {
  ASSERT_TRUE(write());
  ASSERT_FALSE(write()) << "the ring is full";
  while_asleep(
      [&] {
        writer.wait_for_room(kLong);
        EXPECT_TRUE(write());
      },
      [&] {
        EXPECT_EQ(ends.writer_sleeps, 1U);
        EXPECT_EQ(reader.try_read(message), RingReader::Outcome::message);
      });
  EXPECT_EQ(ends.writer_sleeps, 0U);
}

TEST_F(SleepingRing, TheOtherSideClearsTheMarkOfASleeper) {
  ends.reader_sleeps = 1;
  ASSERT_TRUE(write());
  EXPECT_EQ(ends.reader_sleeps, 0U) << "so that the next message wakes nobody in vain";
  ends.writer_sleeps = 1;
  ASSERT_EQ(reader.try_read(message), RingReader::Outcome::message);
  EXPECT_EQ(ends.writer_sleeps, 0U);
}

TEST_F(SleepingRing, NobodySleepsAfterItsTime) {
  reader.wait_for_message(1);
  EXPECT_EQ(ends.reader_sleeps, 0U);
  writer.wait_for_room(1);
  EXPECT_EQ(ends.writer_sleeps, 0U);
}

}  // namespace
}  // namespace wm::runtime
