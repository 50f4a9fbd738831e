// What the device runs at once, all compute units together.
#pragma once

#include "gpu/occupancy.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime {

// A CPU device runs one group on each compute unit. Of NVIDIA's GPUs the compute capability tells the rest.
gpu::SmLimits device_limits(const Native& native);

// Local memory that the device takes for itself with each group.
std::uint32_t local_reserve(const Native& native);

}  // namespace wm::runtime
