// Counts of the instructions that a launch executed.
#pragma once

#include <array>
#include <cstdint>

#include "exec/instruction_class.h"

namespace wm::exec {

struct LaunchStatistics {
  std::uint64_t blocks = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;           // lanes that executed, guards applied
  std::array<std::uint64_t, kClasses> by_class{};  // warp instructions by Class

  LaunchStatistics& operator+=(const LaunchStatistics& other) {
    blocks += other.blocks;
    warp_instructions += other.warp_instructions;
    thread_instructions += other.thread_instructions;
    for (std::size_t i = 0; i < by_class.size(); ++i) by_class[i] += other.by_class[i];
    return *this;
  }
};

}  // namespace wm::exec
