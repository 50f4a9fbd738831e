// The number of blocks that fit on an SM, and the resources that remain free.
//
// A block takes threads, registers, shared memory and a block slot, all at once and until it ends. Register and
// shared-memory demand is rounded up to the SM's allocation units, as hardware does; an SM whose units are 1 counts
// exactly.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace wm::gpu {

// Amounts of the four resources of blocks: of an SM, free on an SM, or needed by a block.
struct Resources {
  std::uint32_t threads = 0;
  std::uint32_t registers = 0;  // 32-bit
  std::uint32_t shared_bytes = 0;
  std::uint32_t blocks = 0;  // block slots

  friend constexpr bool operator==(const Resources&, const Resources&) = default;
};

// The demand of one block of a kernel, as its compiler and launch say.
struct BlockDemand {
  std::uint32_t threads = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;  // static and dynamic

  friend constexpr bool operator==(const BlockDemand&, const BlockDemand&) = default;
};

struct SmLimits {
  Resources total;
  std::uint32_t warp_threads = 32;
  std::uint32_t register_unit = 1;  // registers are handed to a warp in multiples of this
  std::uint32_t shared_unit = 1;    // shared memory is handed to a block in multiples of this
};

// The resources that a block occupies on an SM with these limits: threads in whole warps, registers and shared memory
// in whole units, one slot.
Resources footprint(const BlockDemand& block, const SmLimits& sm);

// The most blocks of that footprint that fit into `room`; 0 when even one does not.
std::uint32_t fit(const Resources& footprint, const Resources& room);

// `room` after `count` blocks more; the caller knows that they fit.
Resources less(const Resources& room, const Resources& footprint, std::uint32_t count = 1);
// `room` once `count` blocks have left.
Resources more(const Resources& room, const Resources& footprint, std::uint32_t count = 1);

// The largest of the four shares of an SM that `count` blocks take: the dominant share, 0 to 1 while they fit.
double dominant_share(const Resources& footprint, const Resources& total, std::uint32_t count = 1);

// The most blocks on an empty SM, or an error that names the resource that a block exceeds.
Result<std::uint32_t> max_blocks(const BlockDemand& block, const SmLimits& sm);

}  // namespace wm::gpu
