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

void wake_all(const Word& word) { (void)syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace wm::runtime
