// Where the data files are: beside the sources, or where WM_DATA says.
#pragma once

#include <string>

namespace wm::cli {

// The folder with configs/ and experiments/ in it.
std::string data_folder();
inline std::string gpu_folder() { return data_folder() + "/configs/gpus"; }

}  // namespace wm::cli
