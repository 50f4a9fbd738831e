#include "cli/input/data_folder.h"

#include <cstdlib>

namespace wm::cli {

std::string data_folder() {
  const char* given = std::getenv("WM_DATA");
  return given != nullptr ? given : WM_DATA_DIR;
}

}  // namespace wm::cli
