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
#include "exec/run_options.h"
#include "exec/statistics.h"
#include "gpu/application.h"
#include "ptx/ir.h"

namespace wm::exec {

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
