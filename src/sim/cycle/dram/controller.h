// The controller of one DRAM channel: queues of requests, and a scheduler (schedulers/) that chooses the next command.
// Banks work in parallel behind a few commands per clock.
//
// Event-driven: `advance` issues the commands that can go out before `until` and reports finished reads in order.
// Writes wait in a queue of their own and are drained in batches, since turning the bus around costs tWTR.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string_view>

#include "components/dram_schedulers.h"
#include "sim/cycle/dram/bank_queue.h"
#include "sim/cycle/dram/channel.h"
#include "sim/cycle/dram/choice.h"

namespace wm::sim {

struct DramDone {
  std::uint64_t at = 0;
  std::uint32_t token = 0;
};

struct DramQueues {
  std::uint32_t reads = 64;
  std::uint32_t writes = 64;
  std::uint32_t commands_per_clock = 1;
};

class DramController {
 public:
  // `scheduler`: the name of a file in schedulers/.
  DramController(const DramSpec& spec, const DramQueues& queues, std::string_view scheduler);

  // Whether one more request of that kind fits.
  [[nodiscard]] bool accepts(bool write) const;
  void push(const DramRequest& request);

  // Issues commands at clocks in [now, until) up to the first that finishes a request: a read is appended to `done`,
  // and the caller may have new requests by then. Returns the clock of the next command (~0 when nothing waits).
  std::uint64_t advance(std::uint64_t until, std::deque<DramDone>& done);

  // No command goes out before this clock.
  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] bool idle() const { return reads_.empty() && writes_.empty(); }
  // The reads and writes of a kernel, and the rows opened for them.
  struct Use {
    std::uint64_t columns = 0;
    std::uint64_t activates = 0;
  };
  [[nodiscard]] const Use& use(std::uint32_t kernel) const { return use_[kernel]; }
  [[nodiscard]] const DramChannel& channel() const { return channel_; }

 private:
  const DramChoice& next_choice(const BankQueue& queue);
  void update_mode();

  AnyDramScheduler scheduler_;
  DramChannel channel_;
  std::uint32_t read_capacity_;
  std::uint32_t write_capacity_;
  BankQueue reads_;
  BankQueue writes_;
  std::uint32_t commands_;   // limit per clock
  std::uint32_t sent_ = 0;   // commands sent in clock_
  std::uint64_t clock_ = 0;  // clock of the last command
  DramChoice choice_;        // the next command, valid while no request comes or goes
  bool chosen_ = false;
  bool draining_ = false;      // writes have the bus
  std::uint64_t now_ = 0;      // no command goes out before this clock
  std::array<Use, 16> use_{};  // by kernel index
};

}  // namespace wm::sim
