// Times of commands on the device's clock, and how that clock relates to the daemon's. Guarded by the scheduler's lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/schedule/clock.h"
#include "runtime/schedule/completion.h"

namespace wm::runtime {

class DeviceClock {
 public:
  explicit DeviceClock(const Clock& clock) : clock_(clock) {}

  // The times that the device has recorded.
  void record(Command& command, const DeviceTimes& times);
  // Times of a command that the device was not asked about: it ran since it was submitted, or since the one before it
  // ended. Commands that were seen to complete together took equal parts of that time.
  void estimate(Command& command, const Completion& completion) const;
  // Times of a command that was seen to complete before the driver reports it.
  void record_observed(Command& command, const Completion& completion);
  // Times of a command that never was on the device.
  void record_unsubmitted(Command& command) const;

  // Whether the clocks may have drifted apart since they were last compared. Any thread.
  [[nodiscard]] bool needs_comparison() const;

 private:
  [[nodiscard]] static std::uint64_t estimated_start(const Command& command, const Completion& completion);
  void compare(std::uint64_t ahead);

  const Clock& clock_;
  std::uint64_t ahead_ = 0;                 // the device's clock minus the daemon's, modulo 2^64
  std::atomic<std::uint64_t> compared_{0};  // time of the last comparison
};

}  // namespace wm::runtime
