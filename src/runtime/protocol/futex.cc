#include "runtime/protocol/futex.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
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

bool AwakeThreads::wait(const std::function<bool()>& ready) {
  if (spin_until(ready, spin_)) return true;
  const bool may_stay_awake = threads_.fetch_add(1, std::memory_order_relaxed) < max_;
  const bool is_ready = may_stay_awake && spin_until(ready, awake_);
  threads_.fetch_sub(1, std::memory_order_relaxed);
  return is_ready;
}

unsigned max_awake_with(unsigned processors) { return processors >= 8 ? processors / 4 : 0; }

bool wait_awake(const std::function<bool()>& ready) {
  static AwakeThreads threads(max_awake_with(std::thread::hardware_concurrency()), spin_time(),
                              std::chrono::milliseconds(1));
  return threads.wait(ready);
}

void wake_all(const Word& word) { (void)syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace wm::runtime
