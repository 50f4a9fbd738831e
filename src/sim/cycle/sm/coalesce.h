// The cost of a warp's access by its addresses: lines and sectors of global memory, cycles of shared memory.
#pragma once

#include <array>
#include <cstdint>

#include "exec/warp.h"
#include "gpu/gpu_config.h"
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
// accesses are made (64 bits by half warps, 128 bits by quarters). With kJoinsPairs set in `banks`, a wide access in
// which lanes 2k and 2k + 1 always have one address is made in half as many parts.
inline constexpr std::uint32_t kJoinsPairs = 1U << 16;
std::uint32_t shared_cycles(const exec::Access& access, std::uint32_t banks);
// The same for an atomic of which lanes on one word take turns: the most lanes that fall into one bank.
std::uint32_t shared_turns(const exec::Access& access, std::uint32_t banks);
// The most lanes of an access that have the same address.
std::uint32_t lanes_on_one_word(const exec::Access& access);

[[nodiscard]] inline std::uint32_t shared_banks(const gpu::SharedMemoryConfig& shared) {
  return shared.banks | (shared.joins_pairs ? kJoinsPairs : 0);
}

}  // namespace wm::sim
