// The blocks of an SM: how they start, end, stop, and wait at barriers.
//
// The dispatcher (dispatch/place.cc) chooses blocks between quanta. Within a quantum a block that ends may be followed
// by another one of its kernel that was offered before.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/cycle/sm/issue_stage.h"

namespace wm::sim {

// A block that has left its SM.
struct FinishedBlock {
  std::unique_ptr<BlockRun> run;  // empty where another block follows in its place
  std::uint64_t at = 0;
  std::uint8_t kernel_index = 0;
  std::uint64_t number = 0;  // in its grid
  bool followed = false;
  std::uint64_t follower = 0;  // number of the block that follows
  std::uint64_t follows_at = 0;
};

// A block that may follow when one of its kernel ends.
struct OfferedBlock {
  std::uint8_t kernel_index = 0;
  std::uint64_t number = 0;
};

struct FaultedKernel {
  std::uint8_t kernel_index = 0;
  exec::Fault fault;
};

class BlockSlots {
 public:
  // `follows_after`: cycles from a block's end to the start of one in its place; `interval`: cycles between two such
  // starts.
  BlockSlots(IssueStage& issue, exec::Block::SmNumbers sm_numbers, std::uint32_t follows_after,
             std::uint32_t interval = 0);

  // Accepts a new or a preempted block; its warps may issue from `at` on.
  void start(std::unique_ptr<BlockRun> run, std::uint64_t at);
  // Begins the blocks whose time has come.
  void begin_due(std::uint64_t now);
  // Begins all accepted blocks now.
  void begin_all(std::uint64_t now);
  // When the next accepted block starts.
  [[nodiscard]] std::uint64_t next_start() const { return starts_; }
  void offer(OfferedBlock block) {
    offers_.push_back(block);
    update_follower();
  }
  // Offers that were not taken, first to last; the caller clears them.
  [[nodiscard]] const std::vector<OfferedBlock>& offers() const { return offers_; }
  void clear_offers() {
    offers_.clear();
    update_follower();
  }
  // Stops up to `count` blocks of the kernel, the youngest first: they issue no more, and appear in `stopped` once
  // their loads have come back. Returns how many.
  std::uint32_t stop(std::uint8_t kernel, std::uint32_t count, std::uint64_t now);

  void warp_exited(WarpSlot& w, std::uint64_t now);
  // Releases warps whose barrier has completed; detects a block that can never continue.
  void check_barrier(ResidentBlock& block, std::uint64_t now);
  void fault(ResidentBlock& block);
  // A load of a block that waits only for its loads came back at `at`.
  void load_finished(ResidentBlock& block, std::uint64_t at);
  // A message of the kernel came from memory.
  void set_last_message(std::uint8_t kernel, std::uint64_t at) { last_[kernel] = at; }

  [[nodiscard]] std::uint32_t resident(std::uint8_t kernel) const { return resident_[kernel]; }
  // When the kernel's last block ended or its last message came, so far.
  [[nodiscard]] std::uint64_t last(std::uint8_t kernel) const { return last_[kernel]; }
  [[nodiscard]] bool has_events() const { return !finished_.empty() || !stopped_.empty() || !faulted_.empty(); }
  // The caller takes and clears these.
  std::vector<FinishedBlock>& finished() { return finished_; }
  std::vector<FinishedBlock>& stopped() { return stopped_; }
  std::vector<FaultedKernel>& faulted() { return faulted_; }

 private:
  struct Starting {
    std::unique_ptr<BlockRun> run;
    std::uint64_t at = 0;
  };

  void begin(std::unique_ptr<BlockRun> run, std::uint64_t at);
  std::unique_ptr<ResidentBlock> new_resident();
  // Prepares the warps that wait and can go on. False: there are none.
  bool release(ResidentBlock& block, std::uint64_t now);
  void halt(ResidentBlock& block);
  void finish(ResidentBlock& block, std::uint64_t now);
  void follow(FinishedBlock& block, std::uint64_t number);
  std::unique_ptr<BlockRun> detach(ResidentBlock& block);
  void hand_over(ResidentBlock& block, std::vector<FinishedBlock>& to, std::uint64_t at);
  void update_follower() { issue_.set_follower(!offers_.empty(), follows_after_); }

  IssueStage& issue_;
  exec::Block::SmNumbers sm_numbers_;
  std::uint32_t follows_after_;
  std::uint32_t interval_;
  std::uint64_t next_follow_ = 0;  // the first cycle at which the next one may start
  std::vector<std::unique_ptr<ResidentBlock>> residents_;
  std::vector<std::unique_ptr<ResidentBlock>> spare_;
  std::vector<Starting> starting_;  // accepted and not begun
  std::vector<OfferedBlock> offers_;
  std::uint32_t kernels_ = 0;                  // number of kernels with blocks on this SM
  std::uint64_t starts_ = IssueStage::kNever;  // the first of `starting_`
  std::array<std::uint32_t, kMaxKernels> resident_{};
  std::array<std::uint64_t, kMaxKernels> last_{};
  std::vector<FinishedBlock> finished_;
  std::vector<FinishedBlock> stopped_;
  std::vector<FaultedKernel> faulted_;
};

}  // namespace wm::sim
