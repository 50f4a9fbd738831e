// GPUs from YAML: configs/gpus/<name>.yaml or a file of the user's. A file with an unknown key or an
// impossible value is refused with the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/gpu_config.h"

namespace wm::gpu {

// A value that cannot be, found without simulating: "sm: threads must be a multiple of 32".
Result<void> validate(const GpuConfig& config);

Result<GpuConfig> parse_gpu(std::string_view yaml, const std::string& file);

// A path (it ends in .yaml), or a name in `folder`.
Result<GpuConfig> load_gpu(const std::string& name_or_path, const std::string& folder);

// The names in `folder`, sorted.
std::vector<std::string> gpu_names(const std::string& folder);

}  // namespace wm::gpu
