// A device is asked whether it lives after a command has failed, and only then.
#include "runtime/server/device_monitor.h"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

#include "policy/registry.h"
#include "runtime/schedule/device_machine.h"
#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {
namespace {

struct DeviceMonitorTest : testing::Test {
  static std::unique_ptr<policy::Policy> policy() {
    return std::move(*policy::make(*policy::choose("accelos"), DeviceMachine::capabilities(), "device"));
  }
  void fail_a_command() {
    backend.next_status = status::kOutOfResources;
    scheduler.add(make_transfer(backend, client, make_queue()), {});
  }

  FakeBackend backend{callback_device()};
  ManualClock clock;
  ObjectCounts counts;
  Scheduler scheduler{backend, counts, policy(), {}, clock};
  DeviceMonitor monitor{backend, scheduler};
  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>();
};

TEST_F(DeviceMonitorTest, WithoutAFailedCommandADeadDeviceIsNotNoticed) {
  backend.alive = false;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(monitor.device_failed());
}

TEST_F(DeviceMonitorTest, AfterAFailedCommandADeadDeviceIsFound) {
  backend.alive = false;
  fail_a_command();
  EXPECT_FALSE(monitor.device_failed()) << "the check takes a while";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool failed = false;
  while (!failed && std::chrono::steady_clock::now() < end) {
    failed = monitor.device_failed();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(failed);
}

// The check has ended when a later failure of the device is found, which only another check can do.
TEST_F(DeviceMonitorTest, ADeviceThatLivesIsCheckedAgainAfterTheNextFailedCommand) {
  fail_a_command();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  EXPECT_FALSE(monitor.device_failed());
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(monitor.device_failed()) << "it lives";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  backend.alive = false;
  bool failed = false;
  while (!failed && std::chrono::steady_clock::now() < end) {
    fail_a_command();
    failed = monitor.device_failed();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(failed);
}

}  // namespace
}  // namespace wm::runtime::test
