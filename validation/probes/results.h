// Results of probes: read from the committed CSV of a real GPU, or measured on a simulated one.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "probes/probe.h"

namespace wm::validation {

// Value by probe, from a file that probes_on_gpu wrote.
Result<std::map<std::string, double>> read_results(const std::string& file);

Result<double> simulate_probe(const gpu::GpuConfig& gpu, const Probe& probe);

}  // namespace wm::validation
