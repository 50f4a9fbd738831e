// What a policy's decisions cost the host, beside the simulation they steer: what `wm bench policies` reports.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "lab/run/corun.h"

namespace wm::lab {

struct DecisionCost {
  std::uint64_t epochs = 0;
  std::uint64_t events = 0;   // of all kinds, epochs among them
  double epoch_seconds = 0;   // in the policy, at the ends of epochs
  double policy_seconds = 0;  // in the policy, for all events
  double run_seconds = 0;     // of the whole run

  [[nodiscard]] double share() const { return run_seconds > 0 ? policy_seconds / run_seconds : 0; }
};

// Runs the kernels together for `cycles` cycles on one thread and watches the clock at every event the policy is told.
// Goals are those in instructions per cycle; rates alone are taken to be four times that, or not known.
Result<DecisionCost> measure_decisions(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                                       const policy::Choice& policy, std::uint64_t cycles);

}  // namespace wm::lab
