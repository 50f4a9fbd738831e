#include "cli/input/client_library.h"

#include <filesystem>
#include <system_error>
#include <vector>

namespace wm::cli {

namespace fs = std::filesystem;

namespace {

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

// The first of the places that exists; empty: none does.
std::string first_existing(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::exists(place, error)) return fs::canonical(place, error).string();
  }
  return {};
}

}  // namespace

Result<std::string> find_client_library(const std::string& asked) {
  std::vector<fs::path> places{asked};
  if (asked.empty()) {
    const fs::path folder = program_folder();
    places = {folder / "../lib/libwarpmux_opencl.so", folder / "../lib/warpmux/libwarpmux_opencl.so",
              folder / "libwarpmux_opencl.so", "/usr/local/lib/libwarpmux_opencl.so", "/usr/lib/libwarpmux_opencl.so"};
  }
  if (std::string found = first_existing(places); !found.empty()) return found;
  return Error{"libwarpmux_opencl.so is not where it should be (" + places.front().string() + "); --library names it"};
}

Result<std::string> find_simulated_driver(const std::string& asked) {
  std::vector<fs::path> places{fs::path(asked) / "libcuda.so.1"};
  if (asked.empty()) {
    const fs::path folder = program_folder();
    places = {folder / "../lib/simulated/libcuda.so.1", folder / "../lib/warpmux/libcuda.so.1",
              "/usr/local/lib/warpmux/libcuda.so.1", "/usr/lib/warpmux/libcuda.so.1"};
  }
  if (const std::string found = first_existing(places); !found.empty()) {
    return fs::path(found).parent_path().string();
  }
  return Error{"libcuda.so.1 of the simulated GPU is not where it should be (" + places.front().string() +
               "); --library names its folder"};
}

Result<std::string> find_forwarding_driver(const std::string& asked) {
  std::vector<fs::path> places{fs::path(asked) / "libcuda.so.1"};
  if (asked.empty()) {
    const fs::path folder = program_folder();
    places = {folder / "../lib/forward/libcuda.so.1", folder / "../lib/warpmux/forward/libcuda.so.1",
              "/usr/local/lib/warpmux/forward/libcuda.so.1", "/usr/lib/warpmux/forward/libcuda.so.1"};
  }
  if (std::string found = first_existing(places); !found.empty()) return found;
  return Error{"the forwarding libcuda.so.1 is not where it should be (" + places.front().string() +
               "); --library names its folder"};
}

}  // namespace wm::cli
