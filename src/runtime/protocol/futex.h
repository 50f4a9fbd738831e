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
[[nodiscard]] std::chrono::nanoseconds spin_time_with(unsigned processors);
// The same on this host.
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

// Lets some threads of a process spin longer than the others: a thread that is needed again after a pause then answers
// without being woken.
class AwakeThreads {
 public:
  // `max` threads at once spin for `awake` after they have spun for `spin`, as all do.
  AwakeThreads(unsigned max, std::chrono::nanoseconds spin, std::chrono::nanoseconds awake)
      : max_(max), spin_(spin), awake_(awake) {}

  // False: it is not ready, and the caller should sleep.
  bool wait(const std::function<bool()>& ready);

 private:
  const unsigned max_;
  const std::chrono::nanoseconds spin_, awake_;
  std::atomic<unsigned> threads_{0};
};
// A quarter of the processors, where there are many.
[[nodiscard]] unsigned max_awake_with(unsigned processors);
// Waits with the threads of this process that may stay awake, for a millisecond.
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
