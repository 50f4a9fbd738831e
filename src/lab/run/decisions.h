// The host time of a policy's decisions, compared with the simulation that they control. `wm bench policies` reports
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "lab/run/corun.h"

namespace wm::lab {

struct DecisionCost {
  std::uint64_t epochs = 0;
  std::uint64_t events = 0;   // events of all kinds, including epochs
  double epoch_seconds = 0;   // in the policy, at the ends of epochs
  double policy_seconds = 0;  // in the policy, for all events
  double run_seconds = 0;     // host time of the run

  [[nodiscard]] double share() const { return run_seconds > 0 ? policy_seconds / run_seconds : 0; }
};

// Runs the kernels together for `cycles` cycles on one thread and measures the time of every call of the policy.
// Only goals in instructions per cycle are used. The isolated rate is assumed to be four times the goal.
Result<DecisionCost> measure_decisions(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                                       const policy::Choice& policy, std::uint64_t cycles);

}  // namespace wm::lab
