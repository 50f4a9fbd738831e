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

std::chrono::nanoseconds spin_time() {
  static const unsigned processors = std::thread::hardware_concurrency();
  return std::chrono::microseconds(processors >= 8 ? 50 : processors >= 4 ? 20 : 2);
}

bool wait_awake(const std::function<bool()>& ready) {
  static const unsigned places = std::thread::hardware_concurrency() >= 8 ? std::thread::hardware_concurrency() / 4 : 0;
  static std::atomic<unsigned> taken{0};
  if (spin_until(ready)) return true;
  if (taken.fetch_add(1, std::memory_order_relaxed) >= places) {
    taken.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  const bool is_ready = spin_until(ready, std::chrono::milliseconds(1));
  taken.fetch_sub(1, std::memory_order_relaxed);
  return is_ready;
}

void wake_all(const Word& word) { (void)syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace wm::runtime
