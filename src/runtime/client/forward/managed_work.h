// The work that a launch or a synchronization does beside the driver's call, where the daemon asks for it.
#pragma once

#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/forward/block_limits.h"
#include "runtime/client/forward/daemon_page.h"
#include "runtime/client/forward/green_contexts.h"

namespace wm::forward {

// Before a launch of any kind, if `modes` is not 0: waits for others, and notes that this program has work. The launch
// has so many `threads`, a graph's are not known, and was counted as `launches`.
inline constexpr std::uint64_t kUnknownThreads = ~std::uint64_t{0};
void before_launch(runtime::ControlPage& page, std::uint32_t modes, std::uint64_t threads, std::uint64_t launches = 1);

// The dynamic shared memory for a launch under `kLimitBlocks`. Launches that are being captured into a graph stay as
// they are: a graph may be launched when the limit has gone.
LimitedLaunch limited(runtime::ControlPage& page, const BlockLimits::Launch& launch, CUstream stream);

// Whether work in the stream would become a node of a graph, or that cannot be told.
[[nodiscard]] bool is_capturing(CUstream stream);

// The SMs for a launch under `kPlace`; without a context: the launch cannot be placed.
[[nodiscard]] GreenContexts::Set place(runtime::ControlPage& page, CUstream stream);
// Counts a launch under `kPlace`, which ran on the SMs of `set` or was not placed.
void count_placed(runtime::ControlPage& page, GreenContexts::Set set, bool is_placed);

// After a call has failed: an error that ends the context is told to the daemon.
void note_failure(runtime::ControlPage& page, CUresult result);

// After a synchronization has succeeded: the program has no work, as far as it waits for its work.
void after_synchronization(runtime::ControlPage& page);

}  // namespace wm::forward
