// A client's reader observes while the polling thread is asleep, so that nobody waits until that has woken.
#include "runtime/schedule/polling_rig.h"

namespace wm::runtime::test {
namespace {

using namespace std::chrono_literals;

struct ObservingTest : PollingThreadTest {
  ObservingTest() {
    make_source(false, 50us);
    clock.tick = 1;
  }
  static bool never() { return false; }
};

TEST_F(ObservingTest, AReaderReportsACompletionInPlaceOfASleepingThread) {
  submit(*source, make_queue(), {.event = 3});
  std::size_t looks = 0;
  backend.on_query = [&] { return ++looks == 3 ? backend.complete(0) : void(); };
  source->observe_until(never);
  EXPECT_EQ(handler.all.size(), 1U) << "although no thread was started";
  EXPECT_EQ(looks, 3U);
}

TEST_F(ObservingTest, AReaderLeavesWhenItsClientHasSentSomething) {
  submit(*source, make_queue(), {.event = 3});
  bool has_message = false;
  std::size_t looks = 0;
  backend.on_query = [&] { has_message = ++looks == 2; };
  source->observe_until([&] { return has_message; });
  EXPECT_EQ(looks, 2U);
  EXPECT_TRUE(handler.all.empty());
}

TEST_F(ObservingTest, AReaderDoesNotLookWhereNothingIsOnTheDevice) {
  const std::uint64_t before = clock.time;
  source->observe_until(never);
  EXPECT_LE(clock.time, before + 1);
}

TEST_F(ObservingTest, AReaderDoesNotLookWhereProcessorsAreFew) {
  make_source(false, 20us);
  submit(*source, make_queue(), {.event = 3});
  backend.on_query = [] { FAIL(); };
  source->observe_until(never);
}

TEST_F(ObservingTest, AReaderLeavesTheDeviceToAThreadThatIsAwake) {
  submit(*source, make_queue(), {.event = 3});
  std::promise<void> looked, left;
  bool is_first = true;
  backend.on_query = [&] {
    if (!std::exchange(is_first, false)) return;
    looked.set_value();
    left.get_future().wait();
    backend.complete(0);
  };
  source->start();
  looked.get_future().wait();
  source->observe_until(never);
  EXPECT_TRUE(handler.all.empty());
  left.set_value();
  source->stop();
}

// The policy may set an alarm when another thread reports: the polling thread sleeps without one.
TEST_F(ObservingTest, ASleepingThreadHearsOfAnAlarmThatAnotherThreadCaused) {
  std::promise<pid_t> started;
  handler.on_choice = [&, is_first = true]() mutable {
    if (std::exchange(is_first, false)) started.set_value(::gettid());
  };
  source->start();
  wait_until_asleep(started.get_future().get());
  std::promise<void> reported;
  handler.on_choice = {};
  handler.on_complete = [&, reports = 0]() mutable {
    if (++reports == 1) {
      handler.alarm = 1;
      source->note_alarm();
    }
    if (reports != 2) return;
    handler.alarm.reset();
    reported.set_value();
  };
  source->poll();
  reported.get_future().wait();
  source->stop();
}

}  // namespace
}  // namespace wm::runtime::test
