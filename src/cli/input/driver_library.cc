#include "cli/input/driver_library.h"

#include <filesystem>
#include <system_error>
#include <vector>

namespace wm::cli {

namespace fs = std::filesystem;

Result<std::string> find_driver(const std::string& asked) {
  std::vector<fs::path> places;
  if (!asked.empty()) {
    places = {asked};
  } else {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    places = {program.parent_path() / "../lib/libwarpmux_opencl.so", program.parent_path() / "libwarpmux_opencl.so",
              "/usr/local/lib/libwarpmux_opencl.so", "/usr/lib/libwarpmux_opencl.so"};
  }
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::exists(place, error)) return fs::canonical(place, error).string();
  }
  return Error{"libwarpmux_opencl.so is not where it should be (" + places.front().string() + "); --library names it"};
}

}  // namespace wm::cli
