// A kernel as persistent workers: the blocks of a launch take the numbers of the original's blocks, the virtual blocks,
// from a queue in device memory until none is left or their SM has more workers of the launch than it may. A worker
// waits where its SM has begun as many virtual blocks as it may, for some milliseconds; then it leaves.
//
// The rewritten kernel has two more parameters: the address of a PersistentControl, and a PersistentGrid. Block indices
// and grid sizes are virtual in the kernel and in the functions it calls. Between two virtual blocks all threads of a
// worker meet at a barrier that the kernel does not use itself. A worker that comes to an SM with enough workers leaves
// at once, so that a launch may start more workers than are wanted.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::rewrite {

inline constexpr std::uint32_t kMaxSms = 256;

// In device memory, one for a launch. Workers read it before each chunk. Arrays are by %smid.
struct PersistentControl {
  std::uint32_t next = 0;  // the first virtual block that no worker has taken
  std::uint32_t unused[31] = {};
  std::uint32_t limit[kMaxSms] = {};     // workers that an SM may have; the others leave
  std::uint32_t quota[kMaxSms] = {};     // 1 + virtual blocks that may begin there in all; 0: no limit
  std::uint32_t begun[kMaxSms] = {};     // virtual blocks that began there while there was a limit
  std::uint32_t resident[kMaxSms] = {};  // workers that it has
  std::uint32_t done[kMaxSms] = {};      // virtual blocks that ended there
};

// A parameter of the launch: the original's grid, how many virtual blocks a worker takes at a time, and x * y * z.
struct PersistentGrid {
  std::uint32_t x = 1, y = 1, z = 1, chunk = 1, total = 1;
};

// An error: the reason why the kernel must run as it is.
Result<void> make_persistent(ptx::Module& module, const std::string& kernel);

}  // namespace wm::rewrite
