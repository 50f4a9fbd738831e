// A block: its warps, its shared memory, its barriers. It can be started on any SM at any time, stepped warp by warp in
// any order, suspended and resumed later: all its state is in this class.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exec/fault.h"
#include "exec/grid.h"
#include "exec/statistics.h"
#include "exec/warp.h"

namespace wm::exec {

// A named barrier of a block.
struct Barrier {
  std::uint32_t threads = 0;   // threads that arrived
  std::uint32_t padded = 0;    // the same with partial warps counted as 32; compared with a count given by the program
  std::uint32_t expected = 0;  // given by the program; 0: every thread of the block
  std::uint32_t trues = 0;     // threads that arrived with a true predicate
};
inline constexpr std::uint32_t kBarriers = 16;

class GlobalPort;

class Block {
 public:
  // %smid and %nsmid: the SM that the block runs on, and the number of SMs.
  struct SmNumbers {
    std::uint32_t sm = 0;
    std::uint32_t sms = 1;
  };

  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Begins block `index` of `grid`; storage of an earlier block is used again. The grid must outlive the block's run.
  void start(const Grid& grid, gpu::Dim3 index, SmNumbers sm_numbers);
  void start(const Grid& grid, gpu::Dim3 index) { start(grid, index, SmNumbers{}); }

  [[nodiscard]] const Grid& grid() const { return *grid_; }
  [[nodiscard]] gpu::Dim3 index() const { return index_; }
  [[nodiscard]] const SmNumbers& sm_numbers() const { return sm_numbers_; }
  [[nodiscard]] std::uint32_t warps() const { return warp_count_; }
  [[nodiscard]] Warp& warp(std::uint32_t i) { return warps_[i]; }
  [[nodiscard]] const Warp& warp(std::uint32_t i) const { return warps_[i]; }
  [[nodiscard]] bool done() const { return done_warps_ == warp_count_; }
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  // Statistics of the operations that the block has executed so far.
  [[nodiscard]] const LaunchStatistics& statistics() const { return statistics_; }

  // Accesses that may be a wait in a loop: atomics, volatile and acquiring loads.
  [[nodiscard]] std::uint64_t spins() const { return spins_; }

  // Barriers that have completed, each of which made warps ready that waited there.
  [[nodiscard]] std::uint64_t completed_barriers() const { return completed_barriers_; }

  // One operation of a warp that is ready.
  void step(std::uint32_t warp, Step& out);
  // Runs warps in turn until the block is done or faulted, or `budget` operations are spent; returns those executed.
  // A barrier that can never complete is a fault.
  std::uint64_t run(std::uint64_t budget);
  // For a caller that steps: call it when no warp of the block is ready though it is not done. Afterwards either
  // some warp can continue, or the block is in deadlock and has its fault.
  void unblock();

  // The port for accesses to global memory; without one, accesses take effect at once. Set before the first step, kept
  // when the block starts again.
  GlobalPort* port = nullptr;
  // The value that %clock reads; a simulator sets its own time before a step.
  std::uint64_t clock = 0;
  // Nanoseconds, for %globaltimer.
  std::uint64_t timer = 0;

  [[nodiscard]] std::vector<WarpPosition> positions() const;

 private:
  friend class Warp;

  void warp_done() { ++done_warps_; }
  void lanes_exited(std::uint32_t lanes);
  // The current path of `warp` arrives with `lanes`, of which `trues` bring a true predicate.
  void arrive(Warp& warp, std::uint32_t id, std::uint32_t expected, Mask lanes, Mask trues);
  bool try_complete(std::uint32_t id);
  void raise(Fault fault);
  void deadlock();

  const Grid* grid_ = nullptr;
  gpu::Dim3 index_{0, 0, 0};
  SmNumbers sm_numbers_;
  std::uint32_t warp_count_ = 0;
  std::uint32_t done_warps_ = 0;
  std::uint32_t exited_threads_ = 0;
  std::uint32_t turn_ = 0;  // the warp that runs next
  std::uint64_t spins_ = 0;
  std::uint64_t completed_barriers_ = 0;
  std::vector<Warp> warps_;
  std::vector<std::byte> registers_;
  std::vector<std::byte> shared_;
  std::array<Barrier, kBarriers> barriers_{};
  std::uint32_t barriers_used_ = 0;  // bit i: barrier i may be in use
  std::optional<Fault> fault_;
  LaunchStatistics statistics_;
  Access access_;
};

}  // namespace wm::exec
