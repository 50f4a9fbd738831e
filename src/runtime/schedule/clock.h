// The daemon's clock, which tests replace by one that they advance.
#pragma once

#include <chrono>
#include <cstdint>

namespace wm::runtime {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since an arbitrary start.
  [[nodiscard]] virtual std::uint64_t now() const = 0;
};

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] std::uint64_t now() const override {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
};

}  // namespace wm::runtime
