// The timeline of a run for the page: SMs × time in bins, and curves (TIMELINE in web/README.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "gpu/gpu_config.h"
#include "lab/run/corun.h"
#include "sim/cycle/timeline.h"

namespace wm::lab {

nlohmann::ordered_json timeline_document(const gpu::GpuConfig& gpu, const CorunResult& run,
                                         const sim::Timeline& timeline);

}  // namespace wm::lab
