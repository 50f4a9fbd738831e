// Launches as a client's messages ask for them, over a device that does what the test wants.
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

// A device with memory of its own whose launches end when the test says so. One at a time: drivers' calls carry nothing
// that could tell which of several is meant.
class Stage {
 public:
  static Stage& the() {
    static Stage stage;
    return stage;
  }
  std::unique_ptr<Native> device() {
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
  // Launches from here on do not end …
  void hold(bool so) {
    const std::lock_guard lock(mutex_);
    hold_ = so;
  }
  // … until they are let go, the oldest first.
  void let_go(std::size_t count) {
    const std::lock_guard lock(mutex_);
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(std::min(count, held_.size())));
  }
  // Nothing is held any more when a test is over, however it went.
  struct Over {
    ~Over() {
      the().hold(false);
      the().let_go(~std::size_t{0});
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

// Short ones of one client follow each other on the device, a number at a time; when half of them have ended others are
// sent, before the last has.
TEST(Launches, ShortOnesAreSentOnBeforeTheLastHasEnded) {
  Stage& stage = Stage::the();
  Conversation client(stage.device(), "accelos", false, 1e9);
  const Stage::Over over;
  client.make_kernel();
  const auto one = [&](std::uint32_t slot) {
    client.queue_state(slot);
    client.launch(range(16, 16), slot);
  };
  for (std::uint32_t i = 0; i < 4; ++i) {  // known to be short
    one(i);
    EXPECT_EQ(client.ended(i), CL_COMPLETE);
  }
  const std::size_t before = stage.launches();
  stage.hold(true);
  constexpr std::uint32_t kMany = 400;
  for (std::uint32_t i = 0; i < kMany; ++i) one(10 + i);
  std::size_t sent = 0;
  ASSERT_TRUE(Conversation::eventually([&] {
    const std::size_t now = stage.launches();
    return now > before + 4 && std::exchange(sent, now) == now;
  }));
  const std::size_t on_device = stage.held();
  ASSERT_LT(on_device, kMany) << "all of them at once are no test";
  stage.let_go(on_device - 1);
  EXPECT_TRUE(Conversation::eventually([&] { return stage.launches() > sent; })) << on_device;
  stage.hold(false);
  stage.let_go(2 * kMany);
  for (std::uint32_t i = 0; i < kMany; ++i) ASSERT_EQ(client.ended(10 + i), CL_COMPLETE) << i;
  EXPECT_EQ(stage.launches(), before + kMany);
}

// A launch that seems to be followed by another one has no native event. If none follows, its completion is observed
// anyway, although the only event that the daemon polls belongs to an endless kernel of another queue.
TEST(Launches, OneWithoutFollowersIsHeardOfBesideAnEndlessOne) {
  Stage& stage = Stage::the();
  Conversation client(stage.device(), "left_over", true);
  const Stage::Over over;
  client.make_kernel();
  client.make_queue(2);
  constexpr std::uint32_t kGate = 1, kAfter = 2, kEndless = 3;
  for (int i = 0; i < 4; ++i) {  // known to be short
    client.queue_state(kAfter);
    client.launch(range(16, 16), kAfter);
    EXPECT_EQ(client.ended(kAfter), CL_COMPLETE);
  }
  stage.hold(true);
  client.launch(range(16, 16), kEndless, {}, 2);
  ASSERT_TRUE(Conversation::eventually([&] { return stage.held() == 1; }));
  stage.hold(false);
  const auto outstanding = [&] { return client.scheduler().statistics(client.session()).outstanding; };
  for (int round = 0; round < 50; ++round) {
    for (const std::uint32_t slot : {kGate, kAfter}) client.queue_state(slot);
    client.user_event(kGate);
    for (int i = 0; i < 3; ++i) client.launch(range(16, 16), kNoEvent);
    client.launch(range(16, 16), kAfter, kGate);
    // The endless one, the gate and what waits for it.
    ASSERT_TRUE(Conversation::eventually([&] { return outstanding() == 3; })) << "round " << round;
    client.set_user_event(kGate);
    ASSERT_EQ(client.ended(kAfter), CL_COMPLETE);
  }
  stage.let_go(1);
  EXPECT_EQ(client.ended(kEndless), CL_COMPLETE);
}

// A driver that tells of ends in the order of sending says nothing of the second one's while the first one runs.
TEST(Launches, OneBesideALongerOfAnotherClientIsHeardOf) {
  Stage& stage = Stage::the();
  Conversation first(stage.device(), "left_over", true);
  const Stage::Over over;
  Conversation second(first);
  for (Conversation* client : {&first, &second}) client->make_kernel();
  stage.hold(true);  // no event tells of an end from here on; what was copied has been copied
  first.queue_state(1);
  first.launch(range(16, 16), 1);
  ASSERT_TRUE(Conversation::eventually([&] { return stage.held() == 1; }));
  for (const std::uint32_t slot : {1U, 2U, 3U}) {
    second.queue_state(slot);
    second.launch(range(16, 16), slot);
    EXPECT_EQ(second.ended(slot), CL_COMPLETE) << slot;
  }
  stage.hold(false);
  stage.let_go(~std::size_t{0});
  EXPECT_EQ(first.ended(1), CL_COMPLETE);
}

// It is refused when its turn comes; what follows in its queue runs, and nobody else notices.
TEST(Launches, OneThatTheDeviceRefusesFailsAlone) {
  for (const char* policy : {"accelos", "moving_shares"}) {
    Conversation client(null_opencl(true), policy, false);
    client.make_kernel();
    for (const std::uint32_t slot : {0U, 1U, 2U}) client.queue_state(slot);
    client.user_event(0);
    client.launch(range(4096, 512), 1, 0);  // the device takes groups of 256
    client.launch(range(64, 16), 2);
    client.set_user_event(0);
    EXPECT_EQ(client.ended(1), CL_INVALID_WORK_GROUP_SIZE) << policy;
    EXPECT_EQ(client.ended(2), CL_COMPLETE) << policy;
    EXPECT_TRUE(client.scheduler().take_doubt()) << "the device is looked at after that";
    EXPECT_FALSE(client.scheduler().take_doubt());
  }
}

// Drivers divide by the local size; the device of this test ends the process.
TEST(Launches, AGroupOfNoItemsReachesNoDriver) {
  Conversation client(null_opencl(true), "accelos", false);
  client.make_kernel();
  LaunchMessage flat = range(64, 16);
  flat.dimensions = 2;
  flat.global[1] = 4;
  for (const std::uint32_t slot : {0U, 1U}) client.queue_state(slot);
  client.launch(flat, 0);
  client.launch(range(64, 16), 1);
  EXPECT_EQ(client.ended(0), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(client.ended(1), CL_COMPLETE);
}

}  // namespace
}  // namespace wm::runtime::test
