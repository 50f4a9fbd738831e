#include "runtime/protocol/futex.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace wm::runtime {

void sleep_on(const Word& word, std::uint32_t expected, int milliseconds) {
  timespec time{milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1'000'000};
  (void)syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

void wake_all(const Word& word) { (void)syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace wm::runtime
