// First-come-first-served: the oldest request is served before any other, whatever rows are open.
#pragma once

#include <bit>

#include "sim/cycle/dram/choice.h"

namespace wm::sim::dram_schedulers {

struct Fcfs {
  [[nodiscard]] static bool keeps(const BankQueue& queue, const DramRequest&) { return !queue.empty(); }

  [[nodiscard]] DramChoice choose(const DramWaiting& waiting) const {
    const BankQueue& queue = waiting.queue;
    BankQueue::Index oldest = BankQueue::kNone;
    for (std::uint64_t m = queue.waiting(); m != 0; m &= m - 1) {
      const BankQueue::Index i = queue.oldest(static_cast<std::uint32_t>(std::countr_zero(m)));
      if (oldest == BankQueue::kNone || queue.number(i) < queue.number(oldest)) oldest = i;
    }
    const DramRequest& request = queue[oldest];
    const bool hit = waiting.channel.open_row(request.bank) == request.row;
    const DramCommand column = request.write ? DramCommand::write : DramCommand::read;
    const DramCommand command = hit ? column : waiting.row_command(request.bank);
    return {waiting.at(waiting.ready(command, request.bank), oldest), oldest, command};
  }
};

}  // namespace wm::sim::dram_schedulers
