// The daemon's clock, which tests replace by one that they advance.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace wm::runtime {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since an arbitrary start.
  [[nodiscard]] virtual std::uint64_t now() const = 0;
  virtual void sleep_for(std::chrono::nanoseconds time) const = 0;
};

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] std::uint64_t now() const override {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  void sleep_for(std::chrono::nanoseconds time) const override { std::this_thread::sleep_for(time); }
};

}  // namespace wm::runtime
