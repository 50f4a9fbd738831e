// Division by a number that is fixed for a run and mostly a power of two, where a shift and a mask take the place of
// the host's division: finding the place of a line divides ten times.
#pragma once

#include <bit>
#include <cstdint>

namespace wm::sim {

class Divisor {
 public:
  explicit Divisor(std::uint32_t value)
      : value_(value),
        is_power_(std::has_single_bit(value)),
        shift_(static_cast<std::uint8_t>(std::countr_zero(value))) {}

  [[nodiscard]] std::uint32_t value() const { return value_; }

  friend std::uint64_t operator/(std::uint64_t n, const Divisor& d) {
    return d.is_power_ ? n >> d.shift_ : n / d.value_;
  }
  friend std::uint64_t operator%(std::uint64_t n, const Divisor& d) {
    return d.is_power_ ? n & (d.value_ - 1) : n % d.value_;
  }

 private:
  std::uint32_t value_;
  bool is_power_;
  std::uint8_t shift_;
};

}  // namespace wm::sim
