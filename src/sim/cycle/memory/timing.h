// The parts of a memory access, in SM cycles, derived from the totals a configuration states.
//
// A load that misses L1 and hits L2 takes l2.latency in all: `miss` until it leaves the SM, the interconnect both ways,
// `l2` in the slice. One that misses L2 and opens a row takes dram.latency in all. A configuration whose totals leave a
// negative time for a part is refused when it is loaded (`derive` is also that check).
#pragma once

#include "base/result.h"
#include "gpu/gpu_config.h"

namespace wm::sim {

struct MemoryTiming {
  std::uint32_t miss = 0;        // L1 lookup until the request leaves the SM
  std::uint32_t noc = 0;         // one way
  std::uint32_t l2 = 0;          // slice lookup until the reply leaves
  std::uint32_t dram = 0;        // on top of the DRAM's own timing, for a load that goes there
  std::uint32_t round_trip = 0;  // shortest time from an access to the arrival of its reply at the SM
};

Result<MemoryTiming> derive_timing(const gpu::GpuConfig& config);

}  // namespace wm::sim
