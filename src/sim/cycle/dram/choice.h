// The choice of a DRAM scheduler and its input: the contract of the files in schedulers/
// (docs/guide/warp-scheduler.md). A scheduler has `choose(waiting)`, and `keeps(queue, added)`: whether a choice made
// before the request `added` joins the queue holds with it too.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/cycle/dram/bank_queue.h"
#include "sim/cycle/dram/channel.h"

namespace wm::sim {

// The next command of a channel.
struct DramChoice {
  std::uint64_t at = ~std::uint64_t{0};  // command clock
  BankQueue::Index index = 0;            // the request it serves
  DramCommand command = DramCommand::read;
};

// The requests that wait, reads or writes, never none, and the channel that will execute the choice. No command may go
// out before `now`.
struct DramWaiting {
  const BankQueue& queue;
  const DramChannel& channel;
  std::uint64_t now = 0;

  // When the bank can take the command.
  [[nodiscard]] std::uint64_t ready(DramCommand command, std::uint32_t bank) const {
    return std::max(channel.earliest(command, bank), now);
  }
  // When a command whose bank is ready then can go out for the request.
  [[nodiscard]] std::uint64_t at(std::uint64_t bank_ready, BankQueue::Index request) const {
    return channel.after_refresh(std::max(bank_ready, queue[request].arrived));
  }
  // The command that a request needs next where its row is not open.
  [[nodiscard]] DramCommand row_command(std::uint32_t bank) const {
    return channel.open_row(bank) == DramChannel::kClosed ? DramCommand::activate : DramCommand::precharge;
  }
};

}  // namespace wm::sim
