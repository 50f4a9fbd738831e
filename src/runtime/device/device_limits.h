// The number of work-items, groups and bytes of local memory that an OpenCL device runs at once, over all compute
// units.
#pragma once

#include "gpu/occupancy.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime {

// A CPU device runs one group on each compute unit. For GPUs of NVIDIA the limits follow from the compute capability.
gpu::SmLimits device_limits(const Native& native);

// Local memory that the device reserves for itself with each group, in bytes.
std::uint32_t local_reserve(const Native& native);

}  // namespace wm::runtime
