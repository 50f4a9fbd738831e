// Runs an application on the machine's CUDA device with kernels that record their blocks, and times every call.
//
// The application runs twice: the first run loads code and warms the clocks, the second is recorded. Between calls the
// recorder waits for the device, so that no launch runs beside another.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/application.h"
#include "rewrite/ptx/block_times.h"
#include "runtime/device/cuda/device.h"

namespace wm::runtime {

// A transfer, fill or launch, from the call until the device has done it.
struct RecordedCall {
  enum class Kind { copy_to_device, copy_to_host, fill, launch };
  Kind kind = Kind::launch;
  std::size_t bytes = 0;   // the size of a transfer or fill
  std::size_t kernel = 0;  // for a launch, the place in Recording::kernels
  double start_us = 0;     // since the first call
  double returned_us = 0;  // the call returned
  double end_us = 0;       // the device had done it
};

// Launches of one kernel with one grid, block and amount of shared memory.
struct RecordedKernel {
  std::string name;
  std::uint64_t blocks = 0;
  std::uint32_t threads = 0;       // per block
  std::uint32_t registers = 0;     // per thread, without recording
  std::uint64_t shared_bytes = 0;  // per block
  double unrecorded_us = 0;        // mean time of a launch of the original kernel
  std::vector<std::vector<rewrite::BlockTime>> launches;
};

struct Recording {
  std::vector<RecordedKernel> kernels;
  std::vector<RecordedCall> calls;
  std::vector<std::vector<std::byte>> buffers;  // the application's buffers after the recorded run
};

Result<Recording> record_blocks(cuda::Device& device, std::string_view ptx, const gpu::Application& application);

// Runs the unmodified application over and over, from the point in time `begin` until `seconds` later. The microseconds
// of every run that ended in time; within a run only its own order makes calls wait.
Result<std::vector<double>> repeat_application(cuda::Device& device, std::string_view ptx,
                                               const gpu::Application& application,
                                               std::chrono::system_clock::time_point begin, double seconds);

}  // namespace wm::runtime
