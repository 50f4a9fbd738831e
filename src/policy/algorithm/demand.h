// Which SMs no kernel uses, and which kernels could use more: what the schedulers of whole SMs look for (ISCA 2014,
// section 3.3).
#pragma once

#include <cstdint>
#include <vector>

#include "policy/machine.h"

namespace wm::policy {

// On, empty, and its owner has nothing to start there: the SMST's "Idle". An SM that was never given is idle too.
bool idle(const Machine& gpu, const Sm& sm);

// Blocks of the kernel that neither run nor fit on the SMs it has or that are reserved for it: it "has thread blocks to
// issue".
std::uint32_t unserved(const Machine& gpu, const Kernel& k);

// Idle SMs to the kernel, as many as it can use.
void give_idle(Machine& gpu, const Kernel& k, Preempt how);

// Most important first: by priority, and among equals by arrival.
std::vector<Kernel> by_priority(const Machine& gpu);

// One of the SMs that are, or will be, the kernel's: one still reserved for it, else the one with fewest blocks to wait
// for. nullptr: none.
const Sm* easiest_to_take(const Machine& gpu, KernelId from);

// SMs without an owner become the kernel's: where SMs are owned, none is left for blocks to spread to by themselves.
void claim_rest(Machine& gpu, KernelId kernel, Preempt how);

}  // namespace wm::policy
