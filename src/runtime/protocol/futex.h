// Sleeping on a word of shared memory, between processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

namespace wm::runtime {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4);

// Returns when woken, when the word is not `expected`, or after `milliseconds`; the caller checks the word again.
void sleep_on(const Word& word, std::uint32_t expected, int milliseconds);
void wake_all(const Word& word);

// The time for which a thread spins before it sleeps: longer than waking up takes, where enough processors are free.
std::chrono::nanoseconds spin_time();

template <typename Ready>
bool spin_until(Ready ready, std::chrono::nanoseconds limit = spin_time()) {
  constexpr int kChecks = 64;  // between two reads of the clock
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < kChecks; ++i) {
      if (ready()) return true;
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

// Spins for a millisecond where many processors are free, and else for `spin_time`: a thread that is needed again after
// a pause answers without being woken. At most a quarter of the processors spin so in one process.
bool wait_awake(const std::function<bool()>& ready);

// A mutex for sections of a few microseconds: a thread spins before it blocks.
class SpinMutex {
 public:
  void lock() {
    if (!spin_until([this] { return mutex_.try_lock(); }, 4 * spin_time())) mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace wm::runtime
