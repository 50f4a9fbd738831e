// What calls of OpenCL cost a program, on whatever OpenCL its process finds: the same measured natively and as a client
// of the daemon tells what the daemon adds.
#pragma once

#include <cstddef>

#include "runtime/device/opencl_native.h"

namespace wm::runtime {

struct CallCosts {
  // Microseconds, of the best of several batches.
  double launch_call = 0;                  // clEnqueueNDRangeKernel until it returns
  double launch_stream = 0;                // a launch of many that follow each other, until all have ended
  double launch_wait = 0;                  // a launch and the wait for it
  double small_write = 0, small_read = 0;  // 4 KB, and the wait for it
  // Gigabytes a second: blocking, of a buffer of `bytes`.
  double write_bandwidth = 0, read_bandwidth = 0;
  // Milliseconds: clBuildProgram of a program that nobody has seen, and of one that was built before.
  double build_new = 0, build_known = 0;
  double first_launch = 0;  // of a new program's kernel, its making and the wait included
};

struct CostOptions {
  std::size_t bytes = std::size_t{64} << 20;
  int batches = 7;
  int launches = 200;  // of a batch
};

Result<CallCosts> measure_calls(const Native& native, const CostOptions& options);

}  // namespace wm::runtime
