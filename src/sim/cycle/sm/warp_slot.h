// One warp slot of an SM, and the resident block whose warp is in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exec/block.h"
#include "gpu/gpu_config.h"
#include "sim/cycle/sm/block_run.h"
#include "sim/cycle/sm/copy_groups.h"
#include "sim/cycle/sm/scoreboard.h"
#include "sim/cycle/sm/timed_program.h"
#include "sim/cycle/sm/wheel.h"

namespace wm::sim {

// `waiting`: for operands that come at a known time, then for the scheduler to choose it.
enum class WarpState : std::uint8_t { empty, waiting, memory, barrier, done };

struct ResidentBlock {
  std::unique_ptr<BlockRun> run;
  std::vector<std::uint16_t> warps;                 // slot numbers, by warp of the block
  std::uint32_t alive = 0;                          // warps that have not exited
  std::uint32_t at_barrier = 0;                     // warps that wait at a barrier
  std::uint32_t loads = 0;                          // in flight
  std::optional<std::uint64_t> completed_barriers;  // the block's number of them when its warps were last released
  bool stopping = false;   // it does not issue any more and leaves when its loads have come back
  bool releasing = false;  // its warps are being prepared; whether all of them wait is known after that
};

// The fields used at every issue come first and fill a line of the host's cache.
struct alignas(64) WarpSlot {
  const exec::Executed* front = nullptr;  // the next operation that was executed ahead of its time
  const exec::Executed* back = nullptr;   // behind the last of them
  Scoreboard::Time* ready = nullptr;      // its row of the scoreboard
  const TimedOp* ops = nullptr;           // operations of its program
  const TimedOp* next = nullptr;          // the instruction it issues next
  WarpMask bit = 0;                       // its bit in the masks of its scheduler
  std::uint64_t due = 0;                  // in state `waiting`: when `next` can issue
  std::uint32_t line = ~0U;               // line of code that it fetched last
  WarpState state = WarpState::empty;
  std::uint8_t scheduler = 0;
  std::uint8_t kernel = 0;           // kernel index
  gpu::Unit unit = gpu::Unit::fp32;  // unit that `next` needs
  exec::Warp* warp = nullptr;
  RunAheadBuffer* ahead = nullptr;
  const std::uint32_t* registers = nullptr;  // base of TimedOp::first_register
  ResidentBlock* resident = nullptr;
  std::uint64_t age = 0;      // later warps have larger numbers
  std::uint32_t loads = 0;    // in flight
  std::uint32_t atomics = 0;  // atomics among these that will write a register
  CopyGroups copies;

  // Whether its next operation was executed ahead of its time.
  [[nodiscard]] bool executed() const { return front != back; }
  [[nodiscard]] Scoreboard::Time last_operand(const TimedOp& op) const {
    return Scoreboard::last_operand(ready, registers, op);
  }
  void set_written(const TimedOp& op, Scoreboard::Time usable) const {
    Scoreboard::set_written(ready, registers, op, usable);
  }
};

}  // namespace wm::sim
