// A run as a Perfetto timeline: SMs as tracks, blocks as slices named by kernel, counters below. Opens at
// ui.perfetto.dev and in every tool that reads Perfetto's protobuf format. A nanosecond in it is a cycle.
#pragma once

#include <string>

#include "gpu/gpu_config.h"
#include "lab/run/corun.h"
#include "sim/cycle/timeline.h"

namespace wm::lab {

// The bytes of the trace; an error where the build had no protozero.
Result<std::string> perfetto_trace(const gpu::GpuConfig& gpu, const CorunResult& run, const sim::Timeline& timeline);

}  // namespace wm::lab
