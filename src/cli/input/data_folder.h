// The folder of the data files: that of the sources, or the one that WM_DATA names.
#pragma once

#include <string>

namespace wm::cli {

// The folder with configs/ and experiments/ in it.
std::string data_folder();
inline std::string gpu_folder() { return data_folder() + "/configs/gpus"; }
inline std::string system_folder() { return data_folder() + "/configs/systems"; }
inline std::string app_folder() { return data_folder() + "/configs/apps"; }

}  // namespace wm::cli
