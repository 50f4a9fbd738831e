// First-ready, first-come-first-served: requests that hit an open row go first, oldest first; a bank with no hit
// waiting opens the row of its oldest request. Rixner et al., ISCA 2000.
#pragma once

#include <bit>

#include "sim/cycle/dram/choice.h"

namespace wm::sim::dram_schedulers {

struct FrFcfs {
  // A bank is examined by its oldest request where none hits its open row.
  [[nodiscard]] static bool keeps(const BankQueue& queue, const DramRequest& added) {
    return (queue.waiting() >> added.bank & 1) != 0 && !queue.hits(added);
  }

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
    const BankQueue::Index any = queue.oldest(static_cast<std::uint32_t>(std::countr_zero(queue.waiting())));
    const DramCommand column = queue[any].write ? DramCommand::write : DramCommand::read;
    const std::uint64_t columns_ready = std::max(waiting.channel.ready(column), waiting.now);
    const std::uint64_t activates_ready = std::max(waiting.channel.ready(DramCommand::activate), waiting.now);
    for (std::uint64_t m = queue.waiting(); m != 0; m &= m - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(m));
      BankQueue::Index i = queue.hit(bank);
      const bool hits = i != BankQueue::kNone;
      const DramCommand command = hits ? column : waiting.row_command(bank);
      const std::uint64_t all_ready = hits                               ? columns_ready
                                      : command == DramCommand::activate ? activates_ready
                                                                         : waiting.now;
      const std::uint64_t ready = std::max(waiting.channel.bank_ready(command, bank), all_ready);
      if (ready > best.at) continue;  // so it is with most banks, and their requests need not be examined
      if (!hits) {
        if (queue.head_arrived(bank) <= best.at) consider(queue.oldest(bank), ready, command, false);
        continue;
      }
      // The oldest request that hits goes first, unless it has yet to arrive.
      for (; i != BankQueue::kNone; i = queue.hit_after(i)) {
        consider(i, ready, column, true);
        if (queue[i].arrived <= ready) break;
      }
    }
    return best;
  }
};

}  // namespace wm::sim::dram_schedulers
