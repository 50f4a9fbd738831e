// Sleeping on a word of shared memory, between processes.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

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

// How often the system has taken the processor from the calling thread to give it to another.
long preemptions();

// Lets some threads of a process spin longer than the others: a thread that is needed again after a pause then answers
// without being woken.
class AwakeThreads {
 public:
  // `max` threads at once spin on after they have spun for `spin`, as all do. `count_preemptions` is for tests.
  AwakeThreads(unsigned max, std::chrono::nanoseconds spin, long (*count_preemptions)() = preemptions)
      : max_(max), spin_(spin), count_preemptions_(count_preemptions) {}

  // Spins on for `awake`, unless another thread of the host needs the processor. False: it is not ready, and the caller
  // should sleep.
  bool wait(const std::function<bool()>& ready, std::chrono::nanoseconds awake);

 private:
  [[nodiscard]] bool stay_awake(const std::function<bool()>& ready, std::chrono::nanoseconds awake) const;

  const unsigned max_;
  const std::chrono::nanoseconds spin_;
  long (*const count_preemptions_)();
  std::atomic<unsigned> threads_{0};
};
// Half of the processors, where there are many.
[[nodiscard]] unsigned max_awake_with(unsigned processors);

inline constexpr std::chrono::milliseconds kDefaultMaxAwake{10};

// How long one thread stays awake. It learns from the pauses in which it slept, as hypervisors do before they halt a
// processor: a client whose pauses are short is served without waking a thread, and one that is away costs little. One
// long pause between short ones teaches it nothing; each further one halves the time.
class AwakeTime {
 public:
  explicit AwakeTime(std::chrono::nanoseconds max = kDefaultMaxAwake) : max_(max) {}

  [[nodiscard]] std::chrono::nanoseconds get() const { return std::min(time_, max_); }
  // The thread was needed again after `pause`, and had fallen asleep.
  void note_pause(std::chrono::nanoseconds pause);
  // The thread was needed again while it was awake.
  void note_ready() { long_pauses_ = 0; }

 private:
  static constexpr std::chrono::nanoseconds kShortest = std::chrono::milliseconds(1);
  std::chrono::nanoseconds max_;
  std::chrono::nanoseconds time_ = kShortest;
  unsigned long_pauses_ = 0;  // in a row
};
// Waits with the threads of this process that may stay awake.
bool wait_awake(const std::function<bool()>& ready, const AwakeTime& time);

}  // namespace wm::runtime
