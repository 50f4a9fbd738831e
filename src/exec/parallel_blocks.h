// Runs the blocks of a launch on several threads of the host.
//
// Only kernels whose blocks cannot communicate qualify: they have no atomics, no strong accesses and no heap. Blocks
// run in batches, each block with a GlobalPort of its own; the stores of a batch become visible in the order of its
// blocks. The size of batches depends on the launch only. So the result is the same for any number of threads, races
// between blocks included.
#pragma once

#include <cstdint>

#include "exec/run_options.h"

namespace wm::exec {

[[nodiscard]] bool blocks_are_independent(const Program& program);

// How many blocks are in memory at once: fewer where each has much local memory.
[[nodiscard]] std::uint64_t blocks_in_a_batch(const Grid& grid);

// `options.threads` must be at least 1.
LaunchResult run_blocks_in_parallel(const Grid& grid, const RunOptions& options);

}  // namespace wm::exec
