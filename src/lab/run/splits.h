// The ways to divide an SM among kernels by blocks, which Warped-Slicer's oracle tries (ISCA 2016, section V.A).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "lab/run/corun.h"

namespace wm::lab {

// Blocks per kernel, at least one, that fit on an SM together: "1/1", "1/2", … A kernel's block is that of
// its largest launch. `full`: only splits that leave no room for another block of these kernels.
Result<std::vector<std::string>> splits(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                                        bool full);

}  // namespace wm::lab
