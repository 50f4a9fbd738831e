// A co-run's metrics (gpu/metrics.h) over all its kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/run/corun.h"

namespace wm::lab {

struct Metrics {
  bool known = false;  // all isolated rates are known; otherwise only `ipc` and the goals are valid
  double stp = 0;
  double antt = 0;
  double worst_ntt = 0;
  double fairness = 0;
  double unfairness = 0;
  double ipc = 0;      // sum over the GPU
  double starved = 0;  // the largest part of the run in which a kernel starved (starvation.h)
  std::size_t goals = 0;
  std::size_t reached = 0;
};

Metrics metrics_of(const CorunResult& run);
std::uint64_t warp_instructions(const CorunResult& run);

}  // namespace wm::lab
