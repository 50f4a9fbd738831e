// A kernel of the zoo, or a user's, as a trace for the block machine: its launches, with block durations that follow
// from the cycle machine.
#pragma once

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "lab/run/corun.h"
#include "lab/run/participant.h"
#include "sim/block/app_trace.h"

namespace wm::lab {

// Launches without transfers or CPU phases. All blocks of the application take the same time on a full SM: that with
// which its launches, one after the other on all SMs, take the cycles of the isolated run on the cycle machine.
Result<sim::AppTrace> block_trace(const gpu::GpuConfig& gpu, const Participant& participant,
                                  const IsolatedRate& isolated);

}  // namespace wm::lab
