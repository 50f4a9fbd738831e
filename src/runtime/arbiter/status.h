// The answers to `wm status` and `wm set` from the daemon of CUDA programs: the keys of the other daemons, and
// `arbiter`.
#pragma once

#include <string>
#include <vector>

#include "runtime/arbiter/program.h"

namespace wm::runtime {

struct ArbiterStatus {
  const ArbiterOptions& options;
  const std::string& device;
  std::string policy;
  double seconds = 0;
  std::uint64_t seen = 0;
  bool goals_exhausted = false;
  std::vector<const ArbitratedProgram*> programs;
};

[[nodiscard]] std::string arbiter_status(const ArbiterStatus& status);

// The answer to a request of `wm set`.
[[nodiscard]] std::string control_arbitrated(const std::string& request,
                                             const std::vector<ArbitratedProgram*>& programs);

}  // namespace wm::runtime
