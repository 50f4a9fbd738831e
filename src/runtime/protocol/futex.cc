#include "runtime/protocol/futex.h"

#include <algorithm>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace wm::runtime {

void sleep_on(const Word& word, std::uint32_t expected, int milliseconds) {
  timespec time{milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1'000'000};
  (void)syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

std::chrono::nanoseconds spin_time_with(unsigned processors) {
  return std::chrono::microseconds(processors >= 8 ? 50 : processors >= 4 ? 20 : 2);
}

std::chrono::nanoseconds spin_time() {
  static const std::chrono::nanoseconds time = spin_time_with(std::thread::hardware_concurrency());
  return time;
}

long preemptions() {
  rusage usage{};
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

bool AwakeThreads::wait(const std::function<bool()>& ready, std::chrono::nanoseconds awake) {
  if (spin_until(ready, spin_)) return true;
  const bool may_stay_awake = threads_.fetch_add(1, std::memory_order_relaxed) < max_;
  const bool is_ready = may_stay_awake && stay_awake(ready, awake);
  threads_.fetch_sub(1, std::memory_order_relaxed);
  return is_ready;
}

// A thread that shares its processor would keep it until the next tick of the clock, for milliseconds in which the
// other thread may hold a lock that all clients need. It offers its processor often, and counts a switch to another
// thread as a preemption.
bool AwakeThreads::stay_awake(const std::function<bool()>& ready, std::chrono::nanoseconds awake) const {
  constexpr std::chrono::microseconds kBetweenOffers{10};
  const auto end = std::chrono::steady_clock::now() + awake;
  const long before = count_preemptions_();
  do {
    if (spin_until(ready, std::min<std::chrono::nanoseconds>(awake, kBetweenOffers))) return true;
    std::this_thread::yield();
    if (count_preemptions_() != before) return false;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

unsigned max_awake_with(unsigned processors) { return processors >= 8 ? processors / 2 : 0; }

void AwakeTime::note_pause(std::chrono::nanoseconds pause) {
  if (pause <= max_) {
    long_pauses_ = 0;
    time_ = std::max(kShortest, std::min(2 * pause, max_));
  } else if (++long_pauses_ > 1) {
    time_ = std::max(kShortest, time_ / 2);
  }
}

bool wait_awake(const std::function<bool()>& ready, const AwakeTime& time) {
  static AwakeThreads threads(max_awake_with(std::thread::hardware_concurrency()), spin_time());
  return threads.wait(ready, time.get());
}

void wake_all(const Word& word) { (void)syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace wm::runtime
