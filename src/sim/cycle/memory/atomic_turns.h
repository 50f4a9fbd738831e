// The time that lanes of one warp's atomic take at the L2 slice of their line.
//
// A slice changes each word of a sector once per turn: lanes on different words of a sector share a turn, lanes on one
// word wait for each other. Sectors follow one after the other.
#pragma once

#include "exec/global_port.h"
#include "sim/cycle/memory/message.h"

namespace wm::sim {

struct AtomicTurns {
  exec::Mask lanes = 0;     // the lanes whose words lie in the line
  std::uint32_t turns = 0;  // summed over the sectors
};

// `combined`: one lane executes the atomic for all.
AtomicTurns atomic_turns(const exec::PendingAtomic& atomic, LineAddress line, bool combined);

}  // namespace wm::sim
