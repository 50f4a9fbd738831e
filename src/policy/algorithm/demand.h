// Finds SMs that no kernel uses and kernels that could use more SMs, for policies that assign complete SMs (ISCA 2014,
// section 3.3).
#pragma once

#include <cstdint>
#include <vector>

#include "policy/machine.h"

namespace wm::policy {

// The SM is on and empty, and its owner has no block to start there: the SMST's "Idle". An SM without an owner is idle
// too.
bool idle(const Machine& gpu, const Sm& sm);

// Blocks of the kernel that neither run nor fit on the SMs it has or that are reserved for it: it "has thread blocks to
// issue".
std::uint32_t unserved(const Machine& gpu, const Kernel& k);

// Gives idle SMs to the kernel, as many as it can use.
void give_idle(Machine& gpu, const Kernel& k, Preempt how);

// Most important first: by priority, and among equals by arrival.
std::vector<Kernel> by_priority(const Machine& gpu);

// One of the SMs that the kernel owns or will own: one still reserved for it, else the one with the fewest blocks that
// would have to leave. nullptr: none.
const Sm* easiest_to_take(const Machine& gpu, KernelId from);

// Gives all SMs without an owner to the kernel, so that no blocks are placed on unowned SMs.
void claim_rest(Machine& gpu, KernelId kernel, Preempt how);

}  // namespace wm::policy
