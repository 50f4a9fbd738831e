// A CUDA driver without a device: memory is the process's own, launches are recorded, and streams complete when the
// test says so.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/cuda/driver_api.h"

namespace wm::runtime::cuda {

struct FakeCuda {
  struct Launch {
    std::string kernel;
    int priority = 0;
    unsigned blocks = 0, threads = 0, shared = 0;
    std::vector<std::uint64_t> parameters;  // the first eight bytes of each
  };
  std::vector<Launch> launches;
  std::vector<std::string> log;  // other calls: "write 1", "copy", "alloc", …
  bool complete = true;          // whether events are complete when they are asked
  Code failure = 0;              // every later query answers it
  float milliseconds = 1;        // between any two events
  int fit = 8;                   // blocks of any kernel on an SM
  std::string module_text;
  std::size_t parameters_of_launch = 0;  // read from every launch
  std::function<void(const std::string& kernel, void** parameters)> on_launch;
  std::function<void()> on_elapsed;      // called before a difference between events is told
  int static_shared = 0, registers = 0;  // attributes of every function
  std::vector<int> carveouts;            // percent of an SM's memory that was asked to be shared
  int devices = 1, compute_major = 9;
  std::size_t pool_threshold = 0;  // bytes that the driver's pool keeps

  std::map<Address, std::size_t> pinned;                       // sizes of host memory by address
  std::vector<std::pair<Address, std::uint32_t>> completions;  // words in it that streams have not written yet

  [[nodiscard]] bool is_pinned(Address address) const {
    const auto after = pinned.upper_bound(address);
    return after != pinned.begin() && address < std::prev(after)->first + std::prev(after)->second;
  }
  // Everything on the streams completes.
  void finish() {
    complete = true;
    for (const auto& [to, value] : completions) *reinterpret_cast<volatile std::uint32_t*>(to) = value;
    completions.clear();
  }

  // The functions of the one fake that the last call of `install` set up.
  static DriverCalls install(FakeCuda& fake);
};

}  // namespace wm::runtime::cuda
