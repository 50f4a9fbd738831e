// Runs the blocks of a launch on several threads of the host.
//
// Only kernels whose blocks cannot communicate qualify: they have no atomics, no strong accesses and no heap. Blocks
// run in batches of a fixed size, each with a GlobalPort of its own; the stores of a batch become visible in the order
// of its blocks. So the result is the same for any number of threads, races between blocks included.
#pragma once

#include <cstdint>

#include "exec/run_options.h"

namespace wm::exec {

[[nodiscard]] bool blocks_are_independent(const Program& program);

// `options.threads` must be at least 1.
LaunchResult run_blocks_in_parallel(const Grid& grid, const RunOptions& options);

}  // namespace wm::exec
