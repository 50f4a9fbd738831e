// Times of commands on the device's clock.
#include "runtime/schedule/device_clock.h"

#include <gtest/gtest.h>

#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {
namespace {

struct DeviceClockTest : testing::Test {
  CommandPtr command(std::uint64_t received, std::uint64_t submitted) const {
    auto made = make_command(client, queue, CommandType::read);
    made->times.received = received;
    made->times.submitted = submitted;
    return made;
  }
  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>();
  std::shared_ptr<Queue> queue = make_queue();
  ManualClock clock;
  DeviceClock device{clock};
};

TEST_F(DeviceClockTest, TimesOfTheDaemonAreShownOnTheDevicesClock) {
  const auto c = command(900, 1000);
  device.record(*c, {5000, 5300, 5800});  // the device is 4000 ahead
  EXPECT_EQ(c->times.device_queued, 4900U);
  EXPECT_EQ(c->times.device_submitted, 5000U);
  EXPECT_EQ(c->times.device_started, 5300U);
  EXPECT_EQ(c->times.device_ended, 5800U);
}

TEST_F(DeviceClockTest, NothingIsShownBeforeItsCause) {
  device.record(*command(0, 1000), {9000, 9100, 9200});
  const auto c = command(2000, 2100);
  device.record(*c, {0, 2200, 2300});  // started before it was submitted, by the difference of 8000
  EXPECT_EQ(c->times.device_submitted, 2200U);
  EXPECT_EQ(c->times.device_queued, 2200U);
}

// The driver's time stamp is taken late where the thread was interrupted: the difference is never too small.
TEST_F(DeviceClockTest, ALateTimeStampMovesTheClocksByTheirDriftOnly) {
  device.record(*command(0, 1000), {5000, 5000, 5000});
  clock.time += 2'048'000;  // drift of at most 1000
  const auto late = command(10'000, 10'000);
  device.record(*late, {64'000, 64'000, 64'000});  // would be 54'000 ahead
  EXPECT_EQ(late->times.device_submitted, 15'000U);
  clock.time += 2'048;
  const auto early = command(20'000, 20'000);
  device.record(*early, {24'500, 30'000, 30'000});  // 4500 ahead: a smaller difference is believed at once
  EXPECT_EQ(early->times.device_submitted, 24'500U);
}

TEST_F(DeviceClockTest, ComparisonsHoldForTenMilliseconds) {
  device.record(*command(0, 1000), {5000, 5000, 5000});
  clock.time += 10'000'000;
  EXPECT_FALSE(device.needs_comparison());
  clock.time += 1;
  EXPECT_TRUE(device.needs_comparison());
}

TEST_F(DeviceClockTest, LaterBatchesMoveTheEndOnly) {
  const auto c = command(900, 1000);
  device.record(*c, {5000, 5300, 5800});
  device.record(*c, {0, 6000, 7000});
  EXPECT_EQ(c->times.device_started, 5300U);
  EXPECT_EQ(c->times.device_ended, 7000U);
}

TEST_F(DeviceClockTest, CommandsSeenTogetherTookEqualParts) {
  queue->last_end = 2000;
  Completion seen;
  seen.observed = 8000;
  const std::vector<std::uint64_t> ends{4000, 6000, 8000};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto c = command(0, 1000);
    seen.observed_together = 3 - i;
    device.estimate(*c, seen);
    EXPECT_EQ(c->times.device_started, 2000 + 2000 * i);
    EXPECT_EQ(c->times.device_ended, ends[i]);
  }
}

TEST_F(DeviceClockTest, ACommandThatNeverRanHasTheDaemonsTimes) {
  device.record(*command(0, 1000), {5000, 5000, 5000});
  const auto c = command(2000, 0);
  device.record_unsubmitted(*c);
  EXPECT_EQ(c->times.device_queued, 6000U);
  EXPECT_EQ(c->times.device_ended, clock.time + 4000);
}

}  // namespace
}  // namespace wm::runtime::test
