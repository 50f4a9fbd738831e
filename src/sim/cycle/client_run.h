// A client's progress in a run: its current launch, the blocks of it that have not started, and its totals.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cycle/sm/block_run.h"

namespace wm::sim {

struct ClientRun {
  enum class State { to_come, active, done } state = State::to_come;
  std::uint64_t next_block = 0;                      // the first number that was neither started nor offered
  std::vector<std::uint64_t> given_back;             // numbers of blocks that were offered and did not start
  std::vector<std::unique_ptr<BlockRun>> set_aside;  // preempted blocks, oldest first
  RunningKernel running;
  bool flushing = false;  // all blocks have ended, stores are in flight
  bool cut_off = false;   // ended by a fault or its limit: its blocks are dropped when they stop
  Cycles first_arrived = kNever;
  std::uint64_t instructions_before = 0;  // thread instructions of programs that used the client before
  std::uint64_t starts = 0;               // cycle from which blocks of the launch may start
  std::uint64_t over = 0;                 // cycle at which its last launch was over
  std::uint64_t ended = 0;                // cycle of its end
  std::uint64_t blocks = 0;               // done, over all launches
  std::uint64_t launches = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t context_bytes = 0;  // size of one block's context, saved by a context switch
  std::uint64_t instruction_limit = 0;
  std::optional<std::string> fault;
  exec::Fault::Kind fault_kind{};

  // The number of the next block to start.
  std::uint64_t take_number() {
    if (given_back.empty()) return next_block++;
    const std::uint64_t number = given_back.back();
    given_back.pop_back();
    return number;
  }
};

}  // namespace wm::sim
