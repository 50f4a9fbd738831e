// Latencies of any number of requests in bounded memory: counts by size, in steps of at most 1.6%.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace wm::sim {

class LatencyHistogram {
 public:
  void add(std::uint64_t value) {
    ++counts_[bucket(value)];
    ++total_;
  }
  void add(const LatencyHistogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  // The largest value of the bucket that has the value which `part` of all do not exceed; 0 for none.
  [[nodiscard]] std::uint64_t percentile(double part) const {
    const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(total_) + 0.999999);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen != 0 && seen >= wanted) return last_of(i);
    }
    return 0;
  }

 private:
  static constexpr std::uint32_t kBits = 6;  // 64 buckets for each power of two

  static std::size_t bucket(std::uint64_t value) {
    if (value < (1U << kBits)) return value;
    const auto shift = static_cast<std::uint32_t>(std::bit_width(value)) - kBits - 1;
    return (std::size_t{shift} << kBits) + (value >> shift);
  }
  static std::uint64_t last_of(std::size_t bucket) {
    if (bucket < (2U << kBits)) return bucket;
    const std::size_t shift = (bucket >> kBits) - 1;
    return (((bucket & ((1U << kBits) - 1)) + (1U << kBits) + 1) << shift) - 1;
  }

  std::array<std::uint64_t, std::size_t{64} << kBits> counts_{};
  std::uint64_t total_ = 0;
};

}  // namespace wm::sim
