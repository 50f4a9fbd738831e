// Random kernels whose results do not depend on the order in which warps run, for comparing ways to execute them.
//
// Every thread works on its own words of global, shared and local memory, through addresses of the space and generic
// ones, plainly, volatile and atomically; with carry chains, guards and divergent branches. Threads read each other's
// words only between barriers, and add to common counters that are read after the last barrier.
#pragma once

#include <cstdint>
#include <string>

namespace wm::exec {

inline constexpr std::uint32_t kGeneratedThreads = 64;
inline constexpr std::uint32_t kGeneratedBlocks = 2;
inline constexpr std::uint32_t kGeneratedWords = 32;  // words in `out` for each thread
inline constexpr std::uint32_t kGeneratedOutWords = kGeneratedWords * kGeneratedThreads * kGeneratedBlocks;

// A module with the kernel `k(.u64 out)`, for kGeneratedBlocks blocks of kGeneratedThreads threads.
std::string generated_kernel(std::uint64_t seed);

}  // namespace wm::exec
