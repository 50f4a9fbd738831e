// How kernels run without time, and the result of a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "exec/fault.h"
#include "exec/grid.h"
#include "exec/statistics.h"

namespace wm::exec {

// Warp instructions that a block executes before another may have its turn.
inline constexpr std::uint64_t kBlockTurn = 1U << 18;

struct RunOptions {
  // Warp instructions a launch may execute; 0: no limit. A launch past it ends with Fault::Kind::instruction_limit.
  std::uint64_t max_instructions = 0;
  // Threads of the host for the blocks of kernels whose blocks cannot communicate (parallel_blocks.h). 0: blocks run
  // one after the other and see each other's stores at once.
  std::uint32_t threads = 0;
  // Bytes an application's buffers may take in all.
  std::uint64_t max_memory = std::uint64_t{1} << 36;
  // The SMs on which blocks run in turn, for %smid; null: all on one SM.
  const std::vector<std::uint32_t>* sms = nullptr;
  // Receives the output of kernels; without it, the output is dropped.
  PrintSink print;
  // Called after each launch of an application, with the launches done and their number in all.
  std::function<void(std::size_t, std::size_t)> progress;
  // Called after each block, to show how far a long launch is.
  std::function<void()> on_block;
  // Called whenever a block has had its turn: a caller that holds a lock may release it for a moment.
  std::function<void()> on_turn;
  // Asked whenever a block has had its turn, by several threads at once: true ends the launch as if it were past
  // `max_instructions`. Without it a launch that never ends cannot be stopped.
  std::function<bool()> is_stopped;
  // Called with the fault an application ends with, before its error is returned: a kernel's fault is no bad input.
  std::function<void(const Fault&)> on_fault;
};

struct LaunchResult {
  LaunchStatistics statistics;
  std::optional<Fault> fault;
};

}  // namespace wm::exec
