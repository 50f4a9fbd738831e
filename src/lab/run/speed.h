// How fast the cycle machine simulates one kernel on this host: what `wm bench sim` and bench/sim_bench.cc report.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "lab/run/corun.h"

namespace wm::lab {

struct Speed {
  std::uint64_t warp_instructions = 0;
  std::uint64_t cycles = 0;
  // Of the fastest run. One thread: the processor's time, which a busy host does not change; several: that of the
  // clock.
  double seconds = 0;
  std::uint32_t runs = 0;

  [[nodiscard]] double warp_instructions_per_second() const { return static_cast<double>(warp_instructions) / seconds; }
  [[nodiscard]] double cycles_per_second() const { return static_cast<double>(cycles) / seconds; }
};

// Simulates the kernel by itself, again and again until that took `seconds`, at least once.
Result<Speed> measure_speed(const gpu::GpuConfig& gpu, const Participant& kernel, std::uint32_t threads,
                            double seconds);

}  // namespace wm::lab
