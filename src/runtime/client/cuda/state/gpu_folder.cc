#include "runtime/client/cuda/state/gpu_folder.h"

#include <cstdlib>

namespace wm::cuda {

std::string gpu_folder() {
  const char* given = std::getenv("WARPMUX_GPUS");
  return given != nullptr && *given != 0 ? given : WM_DATA_DIR "/configs/gpus";
}

}  // namespace wm::cuda
