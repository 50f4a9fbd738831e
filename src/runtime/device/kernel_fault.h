// A fault of a kernel that ended its launch, and not the device.
#pragma once

#include <cstdint>
#include <string>

namespace wm::runtime {

struct KernelFault {
  std::string kernel;
  int signal = 0;
  std::uint64_t address = 0;
};

}  // namespace wm::runtime
