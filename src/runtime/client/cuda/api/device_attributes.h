// Attributes of the simulated device, from the GPU's YAML.
#pragma once

#include <optional>

#include "gpu/gpu_config.h"

namespace wm::cuda {

// Major version times ten plus minor. GPUs of the papers, which have none in their YAML, count as the newest we have.
int compute_capability(const gpu::GpuConfig& config);

// An attribute of cuDeviceGetAttribute by its number; empty: no such attribute.
std::optional<int> device_attribute(const gpu::GpuConfig& config, int attribute);

inline constexpr int kSharedWithoutOptIn = 48 * 1024;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kReservedShared = 1024;  // bytes per block that the driver keeps

}  // namespace wm::cuda
