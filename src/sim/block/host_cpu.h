// The host's CPU: hardware threads that processes compute on. A phase runs to its end on one of them; where all are
// busy it waits, first come, first served.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace wm::sim {

class HostCpu {
 public:
  explicit HostCpu(std::uint32_t hardware_threads) : free_(hardware_threads) {}

  struct Phase {
    std::uint32_t process = 0;
    std::uint64_t cycles = 0;
  };
  // Begins the phase now and returns its end; nothing if it has to wait.
  std::optional<std::uint64_t> begin(const Phase& phase, std::uint64_t now) {
    if (free_ == 0) {
      waiting_.push_back(phase);
      return std::nullopt;
    }
    --free_;
    return now + phase.cycles;
  }
  // A phase has ended; the next one to begin, where one waits.
  std::optional<Phase> end() {
    ++free_;
    if (waiting_.empty()) return std::nullopt;
    const Phase next = waiting_.front();
    waiting_.pop_front();
    return next;
  }

 private:
  std::uint32_t free_;
  std::deque<Phase> waiting_;
};

}  // namespace wm::sim
