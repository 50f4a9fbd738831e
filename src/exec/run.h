// Running kernels without time: one launch, or everything an application does, block by block to completion.
//
// A simulator that decides when each warp steps uses the parts directly: decode() in
// program.h, Image in image.h, Grid in grid.h, Block in block.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/fault.h"
#include "exec/grid.h"
#include "exec/statistics.h"
#include "gpu/application.h"
#include "ptx/ir.h"

namespace wm::exec {

struct RunOptions {
  // Warp instructions a launch may execute; 0: no limit. A launch past it ends with Fault::Kind::instruction_limit.
  std::uint64_t max_instructions = 0;
  // Bytes an application's buffers may take in all.
  std::uint64_t max_memory = std::uint64_t{1} << 36;
  // Receives the output of kernels; without it, the output is dropped.
  PrintSink print;
  // Called after each launch of an application, with the launches done and their number in all.
  std::function<void(std::size_t, std::size_t)> progress;
  // Called after each block, to show how far a long launch is.
  std::function<void()> on_block;
  // Called whenever a block has had its turn: a caller that holds a lock may release it for a moment.
  std::function<void()> on_turn;
  // Called with the fault an application ends with, before its error is returned: a kernel's fault is no bad input.
  std::function<void(const Fault&)> on_fault;
};

struct LaunchResult {
  LaunchStatistics statistics;
  std::optional<Fault> fault;
};

// Runs a grid to its end or its fault. Its output goes to Grid::print; `options.print` is for applications.
LaunchResult run_launch(const Grid& grid, const RunOptions& options = {});

struct LaunchRecord {
  std::string kernel;
  LaunchStatistics statistics;
  double seconds = 0;  // processor time of the host; all other fields are the same on every run
};

struct ApplicationResult {
  std::vector<std::vector<std::byte>> buffers;  // contents of each buffer of the application on the device at the end
  std::vector<LaunchRecord> launches;           // in order
};

// Runs every step of `application` with the kernels of `module`, in an address space of its own. A launch that does not
// fit its kernel (arguments, sizes), a kernel that cannot be decoded, and a fault are errors. `file` names the PTX in
// messages.
Result<ApplicationResult> run_application(const ptx::Module& module, const gpu::Application& application,
                                          const RunOptions& options = {}, const std::string& file = {});

}  // namespace wm::exec
