// A kernel of the block machine: the resources, number and duration of its blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "gpu/occupancy.h"
#include "sim/block/duration.h"

namespace wm::sim {

// Fixed-point numbers of the block machine: work, rates and demands count in 1/65536.
inline constexpr unsigned kFraction = 16;
inline constexpr std::uint64_t kOne = std::uint64_t{1} << kFraction;

struct KernelModel {
  std::string name;
  std::uint32_t function = 0;  // equal numbers of one client: the same code, grid and block
  gpu::Resources footprint;    // needs of one block, the shared memory as `configured` says
  std::uint32_t max_blocks_per_sm = 1;
  std::uint32_t warps_per_block = 1;
  std::uint32_t blocks = 1;
  Cycles block_time{1};  // the mean, while an SM holds max_blocks_per_sm of its blocks and no others
  DurationShape shape;
  std::uint64_t block_instructions = 0;  // thread instructions of a block that takes the mean
  std::uint64_t context_bytes = 0;       // registers and shared memory of one block, which a switch saves and restores
  // Contention (sm_unit.h): a block's part of the resource that limits the SM, and how much faster it runs than the
  // mean while that resource is not exhausted, both in 1/65536.
  std::uint64_t demand = kOne;
  std::uint64_t unhindered_rate = kOne;

  // Thread instructions in a cycle's work of one block, in 1/65536.
  [[nodiscard]] std::uint64_t instructions_per_cycle() const {
    return (block_instructions << kFraction) / (block_time.count == 0 ? 1 : block_time.count);
  }
};

// A kernel before a GPU is chosen.
struct KernelDescription {
  std::string name;
  std::uint32_t blocks = 1;
  std::uint32_t threads = 32;      // threads of a block
  std::uint32_t registers = 0;     // registers of a block, all threads together
  std::uint32_t shared_bytes = 0;  // shared memory of a block
  Picoseconds block_time;          // either the time of a block …
  Picoseconds kernel_time;         // … or the isolated time of the launch on `measured_sms` SMs
  std::uint32_t measured_sms = 0;
  DurationShape shape;
  std::uint64_t block_instructions = 0;  // 0: an SM full of its blocks executes 32 a cycle
  double saturation = 1;                 // the part of max_blocks_per_sm at which more blocks make an SM no faster
};

// The kernel on SMs with these limits. Shared memory has `configurations` (rising; empty: only the limit itself): the
// first that holds a block is used (ISCA 2014, section 4.1), so a block takes a larger part of a smaller one. An error
// names the resource that a block exceeds.
Result<KernelModel> place_kernel(const KernelDescription& kernel, const gpu::SmLimits& sm, Hertz clock,
                                 std::span<const std::uint32_t> configurations);

// The time of a launch of `blocks` on `slots` block slots that each take the next block when theirs ends, relative to
// the mean duration of a block.
double makespan(std::uint32_t blocks, std::uint32_t slots, const DurationShape& shape, std::uint64_t seed);

}  // namespace wm::sim
