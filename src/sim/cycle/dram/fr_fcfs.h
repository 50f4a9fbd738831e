// First-ready, first-come-first-served: among waiting requests those that hit an open row go first, oldest first; a
// bank with no hit waiting opens the row of its oldest request. Banks work in parallel behind a few commands per clock.
//
// Event-driven: `advance` issues the commands that can go out before `until` and reports finished reads in order.
// Writes wait in a queue of their own and are drained in batches, since turning the bus around costs tWTR.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "sim/cycle/dram/bank_queue.h"
#include "sim/cycle/dram/channel.h"

namespace wm::sim {

struct DramDone {
  std::uint64_t at = 0;
  std::uint32_t token = 0;
};

class FrFcfs {
 public:
  FrFcfs(const DramSpec& spec, std::uint32_t read_queue, std::uint32_t write_queue,
         std::uint32_t commands_per_clock = 1);

  // Whether one more request of that kind fits.
  [[nodiscard]] bool accepts(bool write) const;
  void push(const DramRequest& request);

  // Issues commands at clocks in [now, until) up to the first that finishes a request: a read is appended to `done`,
  // and the caller may have new requests by then. Returns the clock of the next command (~0 when nothing waits).
  std::uint64_t advance(std::uint64_t until, std::deque<DramDone>& done);

  // No command goes out before it.
  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] bool idle() const { return reads_.empty() && writes_.empty(); }
  // Of a kernel's requests: reads and writes, and the rows opened for them.
  struct Use {
    std::uint64_t columns = 0;
    std::uint64_t activates = 0;
  };
  [[nodiscard]] const Use& use(std::uint32_t kernel) const { return use_[kernel]; }
  [[nodiscard]] const DramChannel& channel() const { return channel_; }

 private:
  struct Choice {
    std::uint64_t at = ~std::uint64_t{0};
    BankQueue::Index index = 0;
    DramCommand command = DramCommand::read;
  };
  [[nodiscard]] Choice choose(const BankQueue& queue) const;
  const Choice& next_choice(const BankQueue& queue);
  void update_mode();

  DramChannel channel_;
  std::uint32_t read_capacity_;
  std::uint32_t write_capacity_;
  BankQueue reads_;
  BankQueue writes_;
  std::uint32_t commands_;   // a clock
  std::uint32_t sent_ = 0;   // in clock_
  std::uint64_t clock_ = 0;  // of the last command
  Choice choice_;            // what goes out next, while nothing has come or gone since
  bool chosen_ = false;
  bool draining_ = false;      // writes have the bus
  std::uint64_t now_ = 0;      // no command goes out before it
  std::array<Use, 16> use_{};  // by kernel slot
};

}  // namespace wm::sim
