// The order in which an assembler that hides latencies issues a basic block.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/access.h"
#include "ptx/analysis.h"

namespace wm::ptx {

// The block's instructions that do not vanish: at each turn the one that can start, and of those the one with the
// longest way to the block's end. Loads rise as far as dependencies, stores to their space and barriers let them.
std::vector<std::uint32_t> latency_order(const Function& function, const BasicBlock& block,
                                         const std::vector<Access>& accesses, const ValueCost& cost);

// The same function, each of its blocks in that order and nothing left out: what an assembler's code does in the order
// a pipeline sees it. Blocks with calls stay as they are.
Function in_latency_order(const Function& function);

}  // namespace wm::ptx
