#include "sim/block/instruction_counts.h"

#include <algorithm>
#include <utility>

namespace wm::sim {

void count_instructions(KernelTable& kernels, SmTable& sms, Cycles now, bool begins_epoch) {
  for (const policy::Kernel& k : kernels.active())
    kernels.view(k.id.index)->instructions = kernels.totals(k.id.index).instructions;
  for (std::uint32_t s = 0; s < sms.count(); ++s) {
    SmTable::Entry& entry = sms[s];
    for (const std::uint32_t i : entry.counted)
      sms.resident(s, i).counters.thread_instructions = entry.retired[i] - entry.epoch_base[i];
    entry.unit.progress(now.count, [&](std::uint32_t client, std::uint64_t work) {
      const std::uint64_t done = kernels.instructions_of(client, work);
      kernels.view(client)->instructions += done;
      sms.resident(s, client).counters.thread_instructions += done;
    });
    for (const std::uint32_t i : entry.counted) {
      policy::Counters& counters = sms.resident(s, i).counters;
      if (begins_epoch) entry.epoch_base[i] += std::exchange(counters.thread_instructions, 0);
      counters.warp_instructions = counters.thread_instructions / 32;
    }
    if (!begins_epoch) continue;
    // A client without blocks here counts nothing until it starts one.
    std::erase_if(entry.counted, [&](std::uint32_t i) {
      const bool absent = sms.resident(s, i).resident == 0;
      if (absent) entry.is_counted[i] = 0;
      return absent;
    });
  }
}

}  // namespace wm::sim
