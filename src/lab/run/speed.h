// The speed of the cycle machine on this host, which `wm bench sim` and bench/sim_bench.cc report.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "lab/run/corun.h"

namespace wm::lab {

struct Speed {
  std::uint64_t warp_instructions = 0;
  std::uint64_t cycles = 0;
  // The fastest run. With one thread this is processor time, which a busy host does not change; with several it is
  // elapsed time.
  double seconds = 0;
  std::uint32_t runs = 0;

  [[nodiscard]] double warp_instructions_per_second() const { return static_cast<double>(warp_instructions) / seconds; }
  [[nodiscard]] double cycles_per_second() const { return static_cast<double>(cycles) / seconds; }
};

// Simulates the kernel in isolation, at least once, and repeats until the runs took `seconds`.
Result<Speed> measure_speed(const gpu::GpuConfig& gpu, const Participant& kernel, std::uint32_t threads,
                            double seconds);

}  // namespace wm::lab
