// A launch as work for a stream.
#pragma once

#include "runtime/client/cuda/api/call.h"

namespace wm::cuda {

struct LaunchShape {
  gpu::Dim3 grid;
  gpu::Dim3 block;
  unsigned shared_bytes = 0;
  bool cooperative = false;
  int priority = 0;           // larger goes first
  bool has_priority = false;  // the launch has one of its own, not its stream's
  std::uint64_t stream = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> sms{};  // that it runs on; empty: all
};

// The parameters of a launch, copied: `values` points to one value per parameter, or `extra` to one buffer with all.
struct LaunchParameters {
  void** values = nullptr;
  void** extra = nullptr;
};

// Checks the launch and makes its operation.
CUresult launch_operation(Context& context, Function& function, const LaunchShape& shape,
                          const LaunchParameters& parameters, Operation& operation);

// The parameters that a node with this launch keeps; the launch has been checked.
std::shared_ptr<const NodeParameters> launch_parameters(const Context& context, Function& function,
                                                        const LaunchShape& shape, const LaunchParameters& parameters);

// The result that a fault of a kernel has in the API.
CUresult result_of(const exec::Fault& fault);

}  // namespace wm::cuda
