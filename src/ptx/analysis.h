// Static analyses of a function: control flow, post-dominators, liveness, register demand.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.h"

namespace wm::ptx {

inline constexpr std::uint32_t kNoBlock = 0xffffffffU;

struct BasicBlock {
  std::uint32_t begin = 0;  // instructions [begin, end) of Function::body
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors;  // block indices
  std::vector<std::uint32_t> predecessors;
};

struct ControlFlow {
  std::vector<BasicBlock> blocks;       // in order of `begin`; block 0 is the entry
  std::vector<std::uint32_t> block_of;  // by instruction
  // Immediate post-dominator of each block; kNoBlock where only the end of the function post-dominates it. A guarded
  // `ret`, `exit` or `trap` ends a block and is no path to the end: it asks where the threads that go on meet.
  std::vector<std::uint32_t> post_dominator;
};
ControlFlow control_flow(const Function& function);

// The live registers at block edges. Those before every instruction would take too much memory.
struct Liveness {
  std::vector<std::vector<std::uint32_t>> live_in;  // by block, sorted register indices
  std::vector<std::vector<std::uint32_t>> live_out;
};
Liveness liveness(const Function& function, const ControlFlow& flow);

// The 32-bit registers a thread needs, as ptxas would allocate them: the largest number live at once (64-bit values
// count twice, predicates are counted separately), including calls and the registers of the ABI.
struct RegisterDemand {
  std::uint32_t registers =
      0;  // 32-bit registers a thread, rounded as the hardware allocates them is the caller's task
  std::uint32_t predicates = 0;
};
RegisterDemand register_demand(const Module& module, const Function& function);

struct StaticCounts {
  std::uint32_t instructions = 0;
  std::uint32_t fp32 = 0, fp64 = 0, fp16 = 0, integer = 0, special_function = 0, tensor = 0;
  std::uint32_t loads = 0, stores = 0, atomics = 0, barriers = 0, branches = 0, calls = 0, conversions = 0, moves = 0;
};
StaticCounts static_counts(const Function& function);

}  // namespace wm::ptx
