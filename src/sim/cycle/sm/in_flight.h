// Thread instructions of a kernel that were issued and complete at a known time, by cycle.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace wm::sim {

class InFlight {
 public:
  // Longer than any latency that is known at issue: a shared-memory access of 32 turns behind a full backlog, a load
  // that hits L1 in 32 lines. A later time counts as the last of these cycles.
  static constexpr std::uint64_t kCycles = 256;

  void add(std::uint32_t instructions, std::uint64_t at) {
    at = std::clamp(at, from_, from_ + kCycles - 1);
    by_cycle_[at % kCycles] += instructions;
    total_ += instructions;
    end_ = std::max(end_, at + 1);
  }
  // Removes those that complete before `now`, and returns their number.
  std::uint64_t take_before(std::uint64_t now) {
    std::uint64_t taken = 0;
    for (; total_ != 0 && from_ < now; ++from_) {
      taken += by_cycle_[from_ % kCycles];
      total_ -= by_cycle_[from_ % kCycles];
      by_cycle_[from_ % kCycles] = 0;
    }
    from_ = std::max(from_, now);
    return taken;
  }
  [[nodiscard]] std::uint64_t count_before(std::uint64_t now) const {
    if (now >= end_) return total_;
    std::uint64_t count = 0;
    for (std::uint64_t at = from_; at < now; ++at) count += by_cycle_[at % kCycles];
    return count;
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  // The cycle in which the last of the next `instructions` completes; needs as many in flight.
  [[nodiscard]] std::uint64_t time_of(std::uint64_t instructions) const {
    std::uint64_t at = from_;
    for (std::uint64_t count = by_cycle_[at % kCycles]; count < instructions;) count += by_cycle_[++at % kCycles];
    return at;
  }

 private:
  std::array<std::uint32_t, kCycles> by_cycle_{};
  std::uint64_t total_ = 0;
  std::uint64_t from_ = 0;  // those of earlier cycles were taken
  std::uint64_t end_ = 0;   // none completes from here on
};

}  // namespace wm::sim
