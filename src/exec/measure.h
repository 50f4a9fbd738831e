// Measures how fast this host executes launches, for `wm bench exec` and bench/.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "exec/run.h"
#include "exec/statistics.h"
#include "gpu/application.h"
#include "ptx/ir.h"

namespace wm::exec {

struct Measured {
  LaunchStatistics statistics;  // counts of all launches of the application, run once
  double seconds = 0;           // processor time of the launches only; the fastest of the repetitions

  [[nodiscard]] double warp_instructions_per_second() const {
    return seconds > 0 ? static_cast<double>(statistics.warp_instructions) / seconds : 0;
  }
};

// Runs `application` `repetitions` times. Decoding, transfers and fills are not in the time.
Result<Measured> measure_application(const ptx::Module& module, const gpu::Application& application, int repetitions);

}  // namespace wm::exec
