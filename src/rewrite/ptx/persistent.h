// A kernel as persistent workers: the blocks of a launch take the numbers of the original's blocks, the virtual blocks,
// from a queue in device memory until none is left or their SM has more workers of the launch than it may.
//
// The rewritten kernel has two more parameters: the address of a PersistentControl, which a PersistentSm for every SM
// follows, and a PersistentGrid. Block indices and grid sizes are virtual in the kernel and in the functions it calls.
// Between two virtual blocks all threads of a worker meet at a barrier that the kernel does not use itself. A worker
// that comes to an SM with enough workers leaves at once, so that a launch may start more workers than are wanted.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::rewrite {

// In device memory, one for a launch.
struct PersistentControl {
  std::uint32_t next = 0;  // the first virtual block that no worker has taken
  std::uint32_t unused[3] = {};
};
// Follows in device memory, by %smid. Workers read it before each chunk.
struct PersistentSm {
  std::uint32_t limit = 0xffffffffU;  // workers that the SM may have; the others leave
  std::uint32_t resident = 0;         // workers that it has
  std::uint32_t done = 0;             // virtual blocks that ended there
  std::uint32_t unused = 0;
};

// A parameter of the launch: the original's grid, and how many virtual blocks a worker takes at a time.
struct PersistentGrid {
  std::uint32_t x = 1, y = 1, z = 1, chunk = 1;
};

// An error: the reason why the kernel must run as it is.
Result<void> make_persistent(ptx::Module& module, const std::string& kernel);

}  // namespace wm::rewrite
