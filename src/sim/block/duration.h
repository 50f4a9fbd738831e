// The durations of a kernel's blocks: a mean and a shape around it.
//
// The shape is a table of quantiles relative to the mean, so a formula and a recorded trace are the same thing to the
// simulator. A block's duration follows from the launch's seed and the block's number only: it is the same under every
// policy and in whatever order blocks start, as in a trace-driven simulator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"

namespace wm::sim {

// One step of SplitMix64: 64 well-mixed bits from any number.
constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class DurationShape {
 public:
  // A formula, or few samples, have 2^kBits quantiles, many samples up to 2^kMaxBits.
  static constexpr int kBits = 8;
  static constexpr int kMaxBits = 15;

  // All blocks take the mean.
  DurationShape();
  // Evenly between mean * (1 - variation) and mean * (1 + variation); variation below 1.
  static DurationShape uniform(double variation);
  // Log-normal with this standard deviation over mean: few long blocks, many short ones.
  static DurationShape lognormal(double variation);
  // Recorded durations, in any unit; at least one, and not all of them 0. Up to 32,768 samples are all in the table, so
  // that rare long blocks stay as rare and as long as they are.
  static DurationShape from_samples(std::span<const double> samples);

  // Cycles of one block, at least 1.
  [[nodiscard]] std::uint64_t duration(Cycles mean, std::uint64_t seed, std::uint64_t block) const {
    if (fixed_) return mean.count;
    const std::uint64_t scaled = (mean.count * quantiles_[mix_bits(seed + block) >> shift_]) >> 16;
    return scaled == 0 ? 1 : scaled;
  }
  [[nodiscard]] bool fixed() const { return fixed_; }
  // Cycles of the shortest block.
  [[nodiscard]] std::uint64_t shortest(Cycles mean) const {
    const std::uint64_t scaled = (mean.count * quantiles_.front()) >> 16;
    return scaled == 0 ? 1 : scaled;
  }
  // The largest duration over the mean.
  [[nodiscard]] double longest() const { return static_cast<double>(quantiles_.back()) / 65536; }

 private:
  // As many as a power of two.
  explicit DurationShape(const std::vector<double>& relative);

  std::vector<std::uint32_t> quantiles_;  // in 1/65536 of the mean, rising
  int shift_ = 64 - kBits;                // 64 random bits are shifted by it to an index of the table
  bool fixed_ = true;
};

}  // namespace wm::sim
