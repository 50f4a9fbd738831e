// The arithmetic of the QoS paper (ISCA 2017, sections 3.2 to 3.5), free of any machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/units.h"

namespace wm::policy {

// Section 3.2: the rate that ends a kernel in time: Instructions / (Frequency x Execution time). The execution
// time is the application's own goal minus the time of its transfers. 0 if no time is left: no rate meets the goal.
inline double goal_from_time(double instructions, Hertz clock, Picoseconds period, Picoseconds transfers) {
  if (period <= transfers) return 0;
  const double seconds = static_cast<double>((period - transfers).count) * 1e-12;
  return instructions / (static_cast<double>(clock.count) * seconds);
}

// The same from a rate: "30 frames a second" of one kernel each.
inline double goal_from_rate(double instructions, Hertz clock, double launches_per_second, Picoseconds transfers) {
  const auto period = static_cast<std::uint64_t>(std::llround(1e12 / launches_per_second));
  return goal_from_time(instructions, clock, {period}, transfers);
}

// Section 3.4.2: alpha_k = max(IPC_goal / IPC_history, 1). A kernel without a history yet is not behind.
inline double history_factor(double goal, double history) { return history > 0 ? std::max(goal / history, 1.0) : 1.0; }

// Equation 1, with alpha: instructions for an epoch.
inline double epoch_quota(double alpha, double goal, Cycles epoch) {
  return alpha * goal * static_cast<double>(epoch.count);
}

// Section 3.4.1: an SM's part of a quota, by the blocks it hosts.
inline std::int64_t local_quota(double quota, std::uint32_t blocks_here, std::uint32_t blocks_everywhere) {
  return blocks_everywhere == 0 ? 0 : std::llround(quota * blocks_here / blocks_everywhere);
}

// Section 3.5, one factor of the artificial goal: the ratio of a QoS kernel's rate to its allotted rate.
inline double headroom(double epoch_ipc, double alpha, double goal) {
  return goal > 0 ? epoch_ipc / (alpha * goal) : 1.0;
}

// Section 3.6: the number of blocks that the idle warps correspond to.
inline std::uint32_t idle_blocks(double idle_warps, std::uint32_t warps_per_block) {
  return warps_per_block == 0 ? 0 : static_cast<std::uint32_t>(std::floor(idle_warps / warps_per_block));
}

}  // namespace wm::policy
