#include "sim/block/instruction_counts.h"

#include <utility>

namespace wm::sim {

void count_instructions(KernelTable& kernels, SmTable& sms, Cycles now, bool begins_epoch) {
  for (const policy::Kernel& k : kernels.active())
    kernels.view(k.id.index)->instructions = kernels.totals(k.id.index).instructions;
  for (std::uint32_t s = 0; s < sms.count(); ++s) {
    SmTable::Entry& entry = sms[s];
    for (std::uint32_t i = 0; i < kernels.clients(); ++i)
      sms.resident(s, i).counters.thread_instructions = entry.retired[i] - entry.epoch_base[i];
    entry.unit.progress(now.count, [&](std::uint32_t client, std::uint64_t work) {
      const std::uint64_t done = kernels.instructions_of(client, work);
      kernels.view(client)->instructions += done;
      sms.resident(s, client).counters.thread_instructions += done;
    });
    for (std::uint32_t i = 0; i < kernels.clients(); ++i) {
      policy::Counters& counters = sms.resident(s, i).counters;
      if (begins_epoch) entry.epoch_base[i] += std::exchange(counters.thread_instructions, 0);
      counters.warp_instructions = counters.thread_instructions / 32;
    }
  }
}

}  // namespace wm::sim
