// The next event of many units and the unit that has it, as a tournament tree over their times.
//
// Setting a time costs a walk up the tree; reading the earliest time is free. Among equal times the first unit wins.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace wm::sim {

class Calendar {
 public:
  explicit Calendar(std::uint32_t units)
      : leaves_(std::bit_ceil(units == 0 ? 1U : units)), winners_(std::size_t{2} * leaves_), times_(leaves_, kNone) {
    for (std::uint32_t i = 0; i < leaves_; ++i) winners_[leaves_ + i] = i;
    for (std::uint32_t i = leaves_ - 1; i > 0; --i) winners_[i] = winners_[std::size_t{2} * i];
  }

  void set(std::uint32_t unit, std::uint64_t time) {
    if (times_[unit] == time) return;
    times_[unit] = time;
    for (std::uint32_t i = (leaves_ + unit) / 2; i > 0; i /= 2) {
      const std::uint32_t a = winners_[std::size_t{2} * i];
      const std::uint32_t b = winners_[std::size_t{2} * i + 1];
      winners_[i] = times_[b] < times_[a] ? b : a;
    }
  }
  [[nodiscard]] std::uint32_t first() const { return winners_[1]; }
  [[nodiscard]] std::uint64_t earliest() const { return times_[first()]; }
  [[nodiscard]] std::uint64_t time(std::uint32_t unit) const { return times_[unit]; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  std::uint32_t leaves_;
  std::vector<std::uint32_t> winners_;  // from 1: the tree's nodes, its leaves behind them
  std::vector<std::uint64_t> times_;
};

}  // namespace wm::sim
