// First-ready, first-come-first-served: requests that hit an open row go first, oldest first; a bank with no hit
// waiting opens the row of its oldest request. Rixner et al., ISCA 2000.
#pragma once

#include <bit>

#include "sim/cycle/dram/choice.h"

namespace wm::sim::dram_schedulers {

struct FrFcfs {
  [[nodiscard]] DramChoice choose(const DramWaiting& waiting) const {
    const BankQueue& queue = waiting.queue;
    DramChoice best;
    bool best_is_column = false;
    // The first that is ready wins; at the same clock a column command goes before a row command, then the older one.
    const auto consider = [&](BankQueue::Index i, std::uint64_t ready, DramCommand command, bool column) {
      const std::uint64_t at = waiting.at(ready, i);
      if (at > best.at) return;
      if (at == best.at && (column != best_is_column ? best_is_column : queue.number(i) > queue.number(best.index)))
        return;
      best = {at, i, command};
      best_is_column = column;
    };
    for (std::uint64_t m = queue.waiting(); m != 0; m &= m - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(m));
      BankQueue::Index i = queue.hit(bank);
      if (i == BankQueue::kNone) {
        const DramCommand command = waiting.row_command(bank);
        consider(queue.oldest(bank), waiting.ready(command, bank), command, false);
        continue;
      }
      // The oldest request that hits goes first, unless it has yet to arrive.
      const DramCommand command = queue[i].write ? DramCommand::write : DramCommand::read;
      const std::uint64_t ready = waiting.ready(command, bank);
      for (; i != BankQueue::kNone; i = queue.hit_after(i)) {
        consider(i, ready, command, true);
        if (queue[i].arrived <= ready) break;
      }
    }
    return best;
  }
};

}  // namespace wm::sim::dram_schedulers
