// The power state of SMs: the time that each was off, and the time at which a waking SM is on.
#pragma once

#include <cstdint>
#include <vector>

namespace wm::sim {

class PowerGating {
 public:
  PowerGating(std::uint32_t sms, std::uint32_t wake_cycles) : wake_cycles_(wake_cycles), sms_(sms) {}

  void switch_off(std::uint32_t sm, std::uint64_t now) {
    sms_[sm].off = true;
    sms_[sm].since = now;
  }
  void wake(std::uint32_t sm, std::uint64_t now) {
    sms_[sm].off_cycles += now - sms_[sm].since;
    sms_[sm].off = false;
    sms_[sm].awake_at = now + wake_cycles_;
  }
  // When an SM that was woken is on again.
  [[nodiscard]] std::uint64_t awake_at(std::uint32_t sm) const { return sms_[sm].awake_at; }
  // Cycles in which SMs were off, summed over SMs.
  [[nodiscard]] std::uint64_t off_cycles(std::uint64_t now) const {
    std::uint64_t sum = 0;
    for (const Sm& sm : sms_) sum += sm.off_cycles + (sm.off ? now - sm.since : 0);
    return sum;
  }

 private:
  struct Sm {
    bool off = false;
    std::uint64_t since = 0;
    std::uint64_t off_cycles = 0;  // total of earlier intervals
    std::uint64_t awake_at = 0;
  };
  std::uint32_t wake_cycles_;
  std::vector<Sm> sms_;
};

}  // namespace wm::sim
