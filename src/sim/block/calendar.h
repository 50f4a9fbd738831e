// The next event of many units and the unit that has it, as a tournament tree over their times.
//
// Setting a time costs a walk up the tree; reading the earliest time is free. Among equal times the first unit wins.
#pragma once

#include <array>
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
  // All units with the earliest time, by number.
  void find_earliest(std::vector<std::uint32_t>& units) const {
    units.clear();
    units.push_back(first());
    const std::uint64_t time = times_[first()];
    // A unit with the same time lost on its way up to the first, against it or against another one with that time.
    for (std::uint32_t i = leaves_ + first(); i > 1; i /= 2)
      if (times_[winners_[i ^ 1]] == time) return collect(1, time, units);
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // The units with this time below a node of the tree, by number.
  void collect(std::uint32_t root, std::uint64_t time, std::vector<std::uint32_t>& units) const {
    units.clear();
    std::array<std::uint32_t, 32> open{};  // at most one sibling for each level
    std::uint32_t size = 0;
    open[size++] = root;
    while (size != 0) {
      const std::uint32_t i = open[--size];
      if (times_[winners_[i]] != time) continue;
      if (i >= leaves_) {
        units.push_back(i - leaves_);
        continue;
      }
      open[size++] = 2 * i + 1;
      open[size++] = 2 * i;
    }
  }

  std::uint32_t leaves_;
  std::vector<std::uint32_t> winners_;  // from 1: the tree's nodes, its leaves behind them
  std::vector<std::uint64_t> times_;
};

}  // namespace wm::sim
