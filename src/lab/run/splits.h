// Every way to divide an SM among kernels by blocks: what the oracle of Warped-Slicer tries (ISCA 2016, section V.A).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "lab/run/corun.h"

namespace wm::lab {

// Blocks of each kernel, at least one, that fit on an SM beside each other: "1/1", "1/2", … A kernel's block is that of
// its largest launch. `full`: only those beside which no other block of these kernels fits.
Result<std::vector<std::string>> splits(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                                        bool full);

}  // namespace wm::lab
