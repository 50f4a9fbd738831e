// Launches of a client, over a device whose commands complete when the test lets them.
#include <algorithm>
#include <utility>

#include "runtime/session/conversation.h"

namespace wm::runtime::test {
namespace {

LaunchMessage range(std::uint64_t global, std::uint64_t local) {
  LaunchMessage launch;
  launch.dimensions = 1;
  launch.global[0] = global;
  launch.local[0] = local;
  return launch;
}

// A driver of a GPU whose launches complete when the test lets them. There is one at a time, because the functions of a
// driver have no context argument.
class HeldDevice {
 public:
  static HeldDevice& the() {
    static HeldDevice device;
    return device;
  }
  std::unique_ptr<Native> open() {
    hold_ = false;
    held_.clear();
    launches_ = 0;
    auto native = null_opencl(false);
    launch_ = native->cl.EnqueueNDRangeKernel;
    info_ = native->cl.GetEventInfo;
    native->cl.EnqueueNDRangeKernel = [](cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                                         cl_uint waits, const cl_event* list, cl_event* event) {
      const cl_int status = the().launch_(queue, kernel, dimensions, offset, global, local, waits, list, event);
      const std::lock_guard lock(the().mutex_);
      ++the().launches_;
      if (the().hold_ && event != nullptr) the().held_.push_back(*event);
      return status;
    };
    native->cl.GetEventInfo = [](cl_event event, cl_event_info name, std::size_t room, void* value,
                                 std::size_t* needed) -> cl_int {
      const std::lock_guard lock(the().mutex_);
      const auto& held = the().held_;
      const bool runs =
          name == CL_EVENT_COMMAND_EXECUTION_STATUS && std::find(held.begin(), held.end(), event) != held.end();
      if (!runs) return the().info_(event, name, room, value, needed);
      *static_cast<cl_int*>(value) = CL_RUNNING;
      return CL_SUCCESS;
    };
    return native;
  }
  // Launches from now on do not complete …
  void hold(bool so) {
    const std::lock_guard lock(mutex_);
    hold_ = so;
  }
  // … until they are released, the oldest first.
  void release(std::size_t count) {
    const std::lock_guard lock(mutex_);
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(std::min(count, held_.size())));
  }
  // Releases all launches at the end of a test, also of one that failed.
  struct Reset {
    ~Reset() {
      the().hold(false);
      the().release(~std::size_t{0});
    }
  };
  std::size_t launches() {
    const std::lock_guard lock(mutex_);
    return launches_;
  }
  std::size_t held() {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }

 private:
  std::mutex mutex_;
  bool hold_ = false;
  std::vector<cl_event> held_;
  std::size_t launches_ = 0;
  decltype(NativeCalls::EnqueueNDRangeKernel) launch_ = nullptr;
  decltype(NativeCalls::GetEventInfo) info_ = nullptr;
};

// Short launches of one client are pipelined, a limited number at a time; further ones are submitted when half of them
// have completed.
TEST(Launches, ShortLaunchesAreSubmittedBeforeTheLastOneHasCompleted) {
  HeldDevice& device = HeldDevice::the();
  Conversation client(device.open(), "accelos", false, 1e9);
  const HeldDevice::Reset reset;
  client.make_kernel();
  const auto one = [&](EventId event) {
    client.queue_state(event);
    client.launch(range(16, 16), event);
  };
  for (std::uint32_t i = 0; i < 4; ++i) {  // the scheduler learns that they are short
    one(i);
    EXPECT_EQ(client.ended(i), CL_COMPLETE);
  }
  const std::size_t before = device.launches();
  device.hold(true);
  constexpr std::uint32_t kMany = 400;
  for (std::uint32_t i = 0; i < kMany; ++i) one(10 + i);
  std::size_t sent = 0;
  ASSERT_TRUE(Conversation::eventually([&] {
    const std::size_t now = device.launches();
    return now > before + 4 && std::exchange(sent, now) == now;
  }));
  const std::size_t on_device = device.held();
  ASSERT_LT(on_device, kMany) << "not all launches may be on the device at once";
  device.release(on_device - 1);
  EXPECT_TRUE(Conversation::eventually([&] { return device.launches() > sent; })) << on_device;
  device.hold(false);
  device.release(2 * kMany);
  for (std::uint32_t i = 0; i < kMany; ++i) ASSERT_EQ(client.ended(10 + i), CL_COMPLETE) << i;
  EXPECT_EQ(device.launches(), before + kMany);
}

// A launch whose next message is a launch has no event of the device. If that launch does not follow at once, its
// completion is observed all the same, while the only event on the device is that of an endless kernel.
TEST(Launches, ALaunchWithoutEventCompletesBesideAnEndlessKernel) {
  HeldDevice& device = HeldDevice::the();
  Conversation client(device.open(), "left_over", true);
  const HeldDevice::Reset reset;
  client.make_kernel();
  client.make_queue(2);
  constexpr std::uint32_t kGate = 1, kAfter = 2, kEndless = 3;
  for (int i = 0; i < 4; ++i) {  // the scheduler learns that they are short
    client.queue_state(kAfter);
    client.launch(range(16, 16), kAfter);
    EXPECT_EQ(client.ended(kAfter), CL_COMPLETE);
  }
  device.hold(true);
  client.launch(range(16, 16), kEndless, {}, 2);
  ASSERT_TRUE(Conversation::eventually([&] { return device.held() == 1; }));
  device.hold(false);
  const auto outstanding = [&] { return client.scheduler().statistics(client.session()).outstanding; };
  for (int round = 0; round < 50; ++round) {
    for (const EventId event : {kGate, kAfter}) client.queue_state(event);
    client.user_event(kGate);
    for (int i = 0; i < 3; ++i) client.launch(range(16, 16), kNoEvent);
    client.launch(range(16, 16), kAfter, kGate);
    // The endless kernel, the user event and the launch that waits for it.
    ASSERT_TRUE(Conversation::eventually([&] { return outstanding() == 3; })) << "round " << round;
    client.set_user_event(kGate);
    ASSERT_EQ(client.ended(kAfter), CL_COMPLETE);
  }
  device.release(1);
  EXPECT_EQ(client.ended(kEndless), CL_COMPLETE);
}

// A driver that reports completions in the order of submission does not report the second launch while the first one
// runs.
TEST(Launches, ALaunchCompletesBesideALongerOneOfAnotherClient) {
  HeldDevice& device = HeldDevice::the();
  Conversation first(device.open(), "left_over", true);
  const HeldDevice::Reset reset;
  Conversation second(first);
  for (Conversation* client : {&first, &second}) client->make_kernel();
  device.hold(true);  // events do not report completion from now on; completion flags do
  first.queue_state(1);
  first.launch(range(16, 16), 1);
  ASSERT_TRUE(Conversation::eventually([&] { return device.held() == 1; }));
  for (const EventId event : {1U, 2U, 3U}) {
    second.queue_state(event);
    second.launch(range(16, 16), event);
    EXPECT_EQ(second.ended(event), CL_COMPLETE) << event;
  }
  device.hold(false);
  device.release(~std::size_t{0});
  EXPECT_EQ(first.ended(1), CL_COMPLETE);
}

// The device refuses the launch when it is submitted; launches of other queues run.
TEST(Launches, ALaunchThatTheDeviceRefusesFailsItsQueueOnly) {
  for (const char* policy : {"accelos", "moving_shares"}) {
    Conversation client(null_opencl(true), policy, false);
    client.make_kernel();
    client.make_queue(1);
    for (const EventId event : {0U, 1U, 2U, 3U}) client.queue_state(event);
    client.user_event(0);
    client.launch(range(4096, 512), 1, 0);  // the device takes groups of 256
    client.launch(range(64, 16), 2, {}, 1);
    client.launch(range(64, 16), 3);
    client.set_user_event(0);
    EXPECT_EQ(client.ended(1), CL_INVALID_WORK_GROUP_SIZE) << policy;
    EXPECT_EQ(client.ended(2), CL_COMPLETE) << policy;
    EXPECT_EQ(client.ended(3), status::kDependencyFailed) << policy;
    EXPECT_TRUE(client.scheduler().take_failed_command()) << "the device is checked after a refusal";
    EXPECT_FALSE(client.scheduler().take_failed_command());
  }
}

// Drivers divide by the local size; the driver of this test aborts if it is 0.
TEST(Launches, ALocalSizeOfZeroReachesNoDriver) {
  Conversation client(null_opencl(true), "accelos", false);
  client.make_kernel();
  LaunchMessage flat = range(64, 16);
  flat.dimensions = 2;
  flat.global[1] = 4;
  client.make_queue(1);
  for (const EventId event : {0U, 1U}) client.queue_state(event);
  client.launch(flat, 0, {}, 1);
  client.launch(range(64, 16), 1);
  EXPECT_EQ(client.ended(0), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(client.ended(1), CL_COMPLETE);
}

}  // namespace
}  // namespace wm::runtime::test
