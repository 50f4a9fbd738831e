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
      : leaves_(std::bit_ceil(units == 0 ? 1U : units)), nodes_(std::size_t{2} * leaves_) {
    for (std::uint32_t i = 0; i < leaves_; ++i) nodes_[leaves_ + i].unit = i;
    for (std::uint32_t i = leaves_ - 1; i > 0; --i) nodes_[i] = nodes_[std::size_t{2} * i];
  }

  void set(std::uint32_t unit, std::uint64_t time) {
    std::uint32_t i = leaves_ + unit;
    if (nodes_[i].time == time) return;
    Node winner{time, unit};
    nodes_[i] = winner;
    for (; i > 1; i /= 2) {
      const Node other = nodes_[i ^ 1U];
      // All ones where the other wins: a branch on it would be mispredicted.
      const std::uint64_t other_wins = -static_cast<std::uint64_t>(
          (other.time < winner.time) | ((other.time == winner.time) & (other.unit < winner.unit)));
      winner.time ^= (winner.time ^ other.time) & other_wins;
      winner.unit ^= (winner.unit ^ other.unit) & static_cast<std::uint32_t>(other_wins);
      nodes_[i / 2] = winner;
    }
  }
  [[nodiscard]] std::uint64_t time(std::uint32_t unit) const { return nodes_[leaves_ + unit].time; }
  [[nodiscard]] std::uint32_t first() const { return nodes_[1].unit; }
  [[nodiscard]] std::uint64_t earliest() const { return nodes_[1].time; }
  [[nodiscard]] bool earliest_is_single() const {
    const std::uint64_t time = earliest();
    // A unit with the same time lost on its way up to the first, against it or against another one with that time.
    bool single = true;
    for (std::uint32_t i = leaves_ + first(); i > 1; i /= 2) single &= nodes_[i ^ 1U].time != time;
    return single;
  }
  // All units with the earliest time, by number.
  void find_earliest(std::vector<std::uint32_t>& units) const {
    if (!earliest_is_single()) return collect(1, earliest(), units);
    units.clear();
    units.push_back(first());
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Node {
    std::uint64_t time = kNone;
    std::uint32_t unit = 0;
  };

  // The units with this time below a node of the tree, by number.
  void collect(std::uint32_t root, std::uint64_t time, std::vector<std::uint32_t>& units) const {
    units.clear();
    std::array<std::uint32_t, 32> open{};  // at most one sibling for each level
    std::uint32_t size = 0;
    open[size++] = root;
    while (size != 0) {
      const std::uint32_t i = open[--size];
      if (nodes_[i].time != time) continue;
      if (i >= leaves_) {
        units.push_back(i - leaves_);
        continue;
      }
      open[size++] = 2 * i + 1;
      open[size++] = 2 * i;
    }
  }

  std::uint32_t leaves_;
  std::vector<Node> nodes_;  // from 1: the earliest below each node of the tree, the units behind them
};

}  // namespace wm::sim
