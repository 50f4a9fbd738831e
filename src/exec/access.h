// The addresses of an access to memory, and how a simulator annotates one.
#pragma once

#include <array>
#include <cstdint>

#include "exec/lanes.h"
#include "ptx/ir.h"

namespace wm::exec {

// The addresses of the last memory operation, in the space it went to: the generic ones resolved, shared and local ones
// as offsets. `space` is generic where lanes went to different spaces; addresses are generic then. Only `lanes` count.
struct Access {
  ptx::Space space = ptx::Space::generic;
  std::uint8_t bytes = 0;  // size of one lane: all elements of a vector
  Mask lanes = 0;
  std::array<std::uint64_t, kLanes> address{};
};

// A callback with which the caller annotates an access to shared memory.
struct AccessNote {
  std::uint32_t (*note)(const Access& access, std::uint32_t argument) = nullptr;
  std::uint32_t argument = 0;  // passed to `note`
};

}  // namespace wm::exec
