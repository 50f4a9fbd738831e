// A thread block in the machine: not yet begun, running on an SM, or preempted with all its state.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "exec/block.h"
#include "sim/cycle/sm/timed_program.h"

namespace wm::sim {

// A launch as SMs see it, the same for all its blocks.
struct RunningKernel {
  const TimedProgram* program = nullptr;
  const exec::Grid* grid = nullptr;
  std::uint64_t client = 0;       // in the top byte of line addresses
  std::uint8_t kernel_index = 0;  // selects the kernel's counters, below kMaxKernels
};

// The cost of an access to shared memory, as the note of an operation that was executed ahead of its time.
struct SharedNote {
  std::uint16_t cycles = 0;  // 0: the operation did not access shared memory
  std::uint16_t words = 0;
};

// Operations that a warp executed ahead of their time (exec::Warp::run_ahead), first to last; each is still to be
// issued.
class RunAheadBuffer {
 public:
  // The operations that have not been issued. An SM iterates over them with its own pointer, and stores it with `go_to`
  // when the block leaves.
  [[nodiscard]] const exec::Executed* begin() const { return ops_.data() + head_; }
  [[nodiscard]] const exec::Executed* end() const { return ops_.data() + count_; }
  void go_to(const exec::Executed* at) { head_ = static_cast<std::uint16_t>(at - ops_.data()); }
  void clear() { head_ = count_ = 0; }
  // Fills the empty buffer with as many operations as there are and fit. It stays empty if the next operation must
  // not be executed ahead. `banks`: number of banks of shared memory.
  void refill(exec::Warp& warp, std::uint32_t banks);

 private:
  static constexpr std::uint32_t kMaxOps = 63;
  std::uint16_t head_ = 0;
  std::uint16_t count_ = 0;
  std::array<exec::Executed, kMaxOps> ops_;
};

struct BlockRun {
  exec::Block block;
  std::vector<RunAheadBuffer> ahead;  // by warp
  RunningKernel kernel;
  std::uint64_t number = 0;   // in its grid
  std::uint64_t started = 0;  // cycle of its first start
  bool begun = false;

  // Called by the SM that is about to run the block for the first time.
  void begin(exec::Block::SmNumbers sm_numbers) {
    begun = true;
    block.start(*kernel.grid, kernel.grid->block_index(number), sm_numbers);
    ahead.resize(block.warps());
    for (RunAheadBuffer& a : ahead) a.clear();
  }
};

}  // namespace wm::sim
