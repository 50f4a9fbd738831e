// The instructions that policies read: of each kernel, and of each kernel on each SM since the epoch began.
#pragma once

#include "sim/block/kernel_table.h"
#include "sim/block/sm_table.h"

namespace wm::sim {

// Brings the epoch's counters and the kernels' instructions up to date, blocks at work included. `begins_epoch`: the
// counters start again from 0.
void count_instructions(KernelTable& kernels, SmTable& sms, Cycles now, bool begins_epoch);

}  // namespace wm::sim
