// The folder of the GPUs' configurations.
#pragma once

#include <string>

namespace wm::cuda {

// The folder that WARPMUX_GPUS names; else that of the installation the library lies in; else the source tree's.
std::string gpu_folder();

}  // namespace wm::cuda
