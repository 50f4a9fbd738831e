// Sleeping on a word of shared memory, across processes.
#pragma once

#include <atomic>
#include <cstdint>

namespace wm::runtime {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4);

// Returns when woken, when the word is not `expected`, or after `milliseconds`; the caller looks again.
void sleep_on(const Word& word, std::uint32_t expected, int milliseconds);
void wake_all(const Word& word);

// Looks again and again for a few microseconds before it is worth sleeping.
template <typename Ready>
bool spin_until(Ready ready, int rounds = 400) {
  for (int i = 0; i < rounds; ++i) {
    if (ready()) return true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  return ready();
}

}  // namespace wm::runtime
