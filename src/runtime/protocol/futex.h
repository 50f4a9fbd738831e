// Sleeping on a word of shared memory, across processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace wm::runtime {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4);

// Returns when woken, when the word is not `expected`, or after `milliseconds`; the caller looks again.
void sleep_on(const Word& word, std::uint32_t expected, int milliseconds);
void wake_all(const Word& word);

// How long it is worth looking again and again before sleeping: longer than waking up takes, where a processor is to
// spare for it.
std::chrono::nanoseconds worth_spinning();

template <typename Ready>
bool spin_until(Ready ready, std::chrono::nanoseconds patience = worth_spinning()) {
  constexpr int kLooks = 64;  // between looks at the clock
  const auto end = std::chrono::steady_clock::now() + patience;
  do {
    for (int i = 0; i < kLooks; ++i) {
      if (ready()) return true;
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

// For locks that are held for microseconds by threads that have much to say to each other.
class BriefMutex {
 public:
  void lock() {
    if (!spin_until([this] { return mutex_.try_lock(); }, 4 * worth_spinning())) mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace wm::runtime
