// Kernels that write down when and where each of their blocks ran.
//
// The kernel gets one more parameter, the address of an array of BlockTime, one for each block of the grid in the order
// of x, y, z, all zero before the launch. The first thread of a block writes the start and the SM; at its end every
// warp raises the end to the present time, with one atomic operation of one of its lanes. Times are those of
// %globaltimer.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::rewrite {

struct BlockTime {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t sm = 0;
};

// An error: the reason why the kernel's blocks cannot be recorded.
Result<void> add_block_times(ptx::Module& module, const std::string& kernel);

}  // namespace wm::rewrite
