// The cost of a warp's access by its addresses: lines and sectors of global memory, cycles of shared memory.
#pragma once

#include <array>
#include <cstdint>

#include "exec/warp.h"
#include "sim/cycle/memory/message.h"

namespace wm::sim {

struct LineAccess {
  LineAddress line = 0;
  Sectors sectors = 0;
  std::uint8_t lanes = 0;
};

// The lines an access touches, in the order of its lanes.
struct Coalesced {
  std::uint32_t count = 0;
  std::array<LineAccess, 2 * exec::kLanes> lines;
};

// `client` goes into the line addresses. Only lanes in `access.lanes` count.
void coalesce(const exec::Access& access, std::uint64_t client, Coalesced& out);

// Cycles a shared-memory access takes: the most distinct words that fall into one bank, over the parts in which wide
// accesses are made (64 bits by half warps, 128 bits by quarters).
std::uint32_t shared_cycles(const exec::Access& access, std::uint32_t banks);

}  // namespace wm::sim
