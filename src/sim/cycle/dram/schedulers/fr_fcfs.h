// First-ready, first-come-first-served: requests that hit an open row go first, oldest first; a bank with no hit
// waiting opens the row of its oldest request. Rixner et al., ISCA 2000.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "sim/cycle/dram/choice.h"

namespace wm::sim::dram_schedulers {

struct FrFcfs {
  // A bank is examined by its oldest request where none hits its open row.
  [[nodiscard]] static bool keeps(const BankQueue& queue, const DramRequest& added) {
    return (queue.waiting() >> added.bank & 1) != 0 && !queue.hits(added);
  }

  [[nodiscard]] DramChoice choose(const DramWaiting& waiting) const {
    const Candidates candidates = examine(waiting);
    const BankQueue& queue = waiting.queue;
    const std::uint64_t at = waiting.channel.after_refresh(candidates.first);
    DramChoice best{.at = at};
    bool found = false;
    // At the same clock a column command goes before a row command, then the older request.
    std::uint64_t due = 0;
    for (std::uint64_t m = queue.waiting(); m != 0; m &= m - 1)
      due |= std::uint64_t{candidates.at[static_cast<std::size_t>(std::countr_zero(m))] <= at} << std::countr_zero(m);
    for (std::uint64_t m = due; m != 0; m &= m - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(m));
      const bool column = queue.hit(bank) != BankQueue::kNone;
      const bool best_is_column = is_column(best.command);
      const BankQueue::Index i = column ? queue.hit_arrived(bank, at) : queue.oldest(bank);
      if (found && (column != best_is_column ? best_is_column : queue.number(i) > queue.number(best.index))) continue;
      best.index = i;
      best.command = candidates.command[bank];
      found = true;
    }
    return best;
  }

 private:
  // By bank: its next command, and when that could go out if there were no refresh. Only banks with requests are set.
  struct Candidates {
    std::array<std::uint64_t, BankQueue::kMaxBanks> at;
    std::array<DramCommand, BankQueue::kMaxBanks> command;
    std::uint64_t first = ~std::uint64_t{0};  // the earliest of them
  };

  [[nodiscard]] static bool is_column(DramCommand c) { return c == DramCommand::read || c == DramCommand::write; }

  // This loop selects without branches: which bank is first changes with every command, and a processor that guesses
  // it wrong loses more time than the comparison of all banks takes.
  [[nodiscard]] static Candidates examine(const DramWaiting& waiting) {
    const BankQueue& queue = waiting.queue;
    const DramChannel& channel = waiting.channel;
    const BankQueue::Index any = queue.oldest(static_cast<std::uint32_t>(std::countr_zero(queue.waiting())));
    const DramCommand column = queue[any].write ? DramCommand::write : DramCommand::read;
    std::array<std::uint64_t, kDramCommands> ready;  // by command, where all banks share what it needs
    for (std::size_t c = 0; c < ready.size(); ++c)
      ready[c] = std::max(channel.ready(static_cast<DramCommand>(c)), waiting.now);
    // The row of a bank is closed, or open for other requests than those that wait, or open for one of them.
    const std::array<DramCommand, 3> next{DramCommand::activate, DramCommand::precharge, column};
    Candidates found;
    std::uint64_t first = ~std::uint64_t{0};
    for (std::uint64_t m = queue.waiting(); m != 0; m &= m - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(m));
      const bool hits = queue.hit(bank) != BankQueue::kNone;
      const bool open = channel.open_row(bank) != DramChannel::kClosed;
      const DramCommand command = next[std::size_t{open} + std::size_t{hits}];
      const std::uint64_t can = std::max(channel.bank_ready(command, bank), ready[static_cast<std::size_t>(command)]);
      std::uint64_t at = std::max(can, queue.head_arrived(bank));
      // The oldest request that hits goes first, unless it has yet to arrive.
      if (hits && at > can) at = std::max(can, queue.first_hit_arrival(bank, can));
      found.at[bank] = at;
      found.command[bank] = command;
      first = std::min(first, at);
    }
    found.first = first;
    return found;
  }
};

}  // namespace wm::sim::dram_schedulers
