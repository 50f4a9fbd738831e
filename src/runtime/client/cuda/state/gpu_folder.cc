#include "runtime/client/cuda/state/gpu_folder.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace wm::cuda {

std::string gpu_folder() {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("WARPMUX_GPUS"); given != nullptr && *given != 0) return given;
  Dl_info library{};
  std::error_code error;
  if (::dladdr(reinterpret_cast<const void*>(&gpu_folder), &library) != 0 && library.dli_fname != nullptr) {
    // PREFIX/lib/warpmux/libcuda.so.1
    const fs::path prefix = fs::canonical(library.dli_fname, error).parent_path().parent_path().parent_path();
    const fs::path installed = prefix / "share/warpmux/configs/gpus";
    if (!error && fs::exists(installed, error)) return installed.string();
  }
  return WM_DATA_DIR "/configs/gpus";
}

}  // namespace wm::cuda
