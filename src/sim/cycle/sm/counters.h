// The counters of one kernel on one SM. Two kernels on one SM never share a counter.
#pragma once

#include <array>
#include <cstdint>

#include "gpu/gpu_config.h"

namespace wm::sim {

// The reasons for which a scheduler issued nothing in a cycle, as in Warped-Slicer's figure 1.
enum class Stall : std::uint8_t { memory, unit, dependency, fetch, barrier, quota, idle, count };
inline constexpr std::size_t kStalls = static_cast<std::size_t>(Stall::count);

struct SmCounters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t issued = 0;  // issue slots taken: folded instructions take none, expanded ones several
  std::array<std::uint64_t, gpu::kUnits> unit_lanes{};   // lanes executed, by unit
  std::array<std::uint64_t, gpu::kUnits> unit_cycles{};  // cycles the unit was occupied
  std::array<std::uint64_t, kStalls> stalls{};           // scheduler cycles
  std::uint64_t register_lanes = 0;                      // 32-bit operands read or written, by lane
  std::uint64_t shared_lanes = 0;
  std::uint64_t shared_conflict_cycles = 0;  // cycles beyond the first of each access
  std::uint64_t l1_sectors = 0;
  std::uint64_t l1_misses = 0;        // sectors
  std::uint64_t texture_sectors = 0;  // sectors of read-only loads, where a texture cache exists
  std::uint64_t texture_misses = 0;
  std::uint64_t requests = 0;         // sent to L2
  std::uint64_t l2_misses = 0;        // sectors that came from DRAM
  std::uint64_t l2_write_misses = 0;  // sectors stored that L2 did not have, which go to DRAM later
  std::uint64_t noc_flits = 0;
  std::uint64_t blocks_done = 0;
  std::uint64_t lsu_blocked_cycles = 0;  // SM cycles in which an access of the kernel held up the load/store unit
  std::uint64_t idle_warp_samples = 0;   // sum over samples of warps ready but not issued
};

}  // namespace wm::sim
