// The order in which an assembler that hides latencies issues a basic block.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/access.h"
#include "ptx/analysis.h"

namespace wm::ptx {

// The block's instructions in list-scheduling order, without those that vanish (value_cost.h): in every cycle, of the
// instructions that can start, the one with the longest path to the block's end. A load moves up as far as its
// dependencies, stores to its space and barriers permit.
std::vector<std::uint32_t> latency_order(const Function& function, const BasicBlock& block,
                                         const std::vector<Access>& accesses, const ValueCost& cost);

// The same function with the instructions of every block in that order, none left out: the order in which a pipeline
// executes an assembler's code. Blocks with calls keep their order.
Function in_latency_order(const Function& function);

}  // namespace wm::ptx
