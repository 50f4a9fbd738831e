#include "tree.h"

namespace wm {

std::string source_path(const std::string& below_root) {
  return below_root.empty() ? WM_SOURCE_DIR : WM_SOURCE_DIR "/" + below_root;
}

std::string binary_path(const std::string& below_root) { return WM_BINARY_DIR "/" + below_root; }

}  // namespace wm
