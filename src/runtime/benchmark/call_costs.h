// Measures the time of OpenCL calls with the OpenCL platform of this process. Measured natively and as a client of the
// daemon, the difference is the cost of the daemon.
#pragma once

#include <cstddef>

#include "runtime/device/opencl_native.h"

namespace wm::runtime {

struct CallCosts {
  // Microseconds, the best of several batches.
  double launch_call = 0;                  // clEnqueueNDRangeKernel, until it returns
  double launch_stream = 0;                // one of many launches in a row, until all have completed
  double launch_wait = 0;                  // a launch and the wait for it
  double small_write = 0, small_read = 0;  // a blocking transfer of 4 KB
  // Gigabytes per second of a blocking transfer of `bytes`.
  double write_bandwidth = 0, read_bandwidth = 0;
  // Milliseconds: clBuildProgram of a new program, and of a program that was built before.
  double build_new = 0, build_known = 0;
  double first_launch = 0;  // first launch of a new program's kernel, with its creation and the wait
};

struct CostOptions {
  std::size_t bytes = std::size_t{64} << 20;
  int batches = 7;
  int launches = 200;  // per batch
};

Result<CallCosts> measure_calls(const Native& native, const CostOptions& options);

}  // namespace wm::runtime
