#include "cli/input/data_folder.h"

#include <cstdlib>
#include <filesystem>

namespace wm::cli {

// $WM_DATA; else the folder of an installed program, share/warpmux beside its bin; else the source tree of the build.
std::string data_folder() {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("WM_DATA")) return given;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share/warpmux";
  return fs::exists(installed / "configs/gpus", error) ? installed.string() : WM_DATA_DIR;
}

}  // namespace wm::cli
