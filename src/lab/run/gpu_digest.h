// A name for a GPU's configuration by content.
#pragma once

#include <string>

namespace wm::lab {

// Equal for configurations that differ only in comments, layout, order of keys or `about`. A text that is not YAML is
// named by its bytes.
std::string gpu_digest(const std::string& text);

}  // namespace wm::lab
