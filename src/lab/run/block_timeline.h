// Fills the timeline of a run on the block machine: where blocks are, and the instructions of kernels over time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/block/system.h"
#include "sim/cycle/timeline.h"

namespace wm::lab {

class BlockTimeline final : public sim::SystemObserver {
 public:
  // The kernels of the timeline: every stream by itself, or the processes with all their streams.
  enum class Kernels { streams, processes };

  // A block takes about 140 bytes: 2.8 GB in all.
  static constexpr std::size_t kMaxBlocks = 20'000'000;

  // `also` observes the run too; nullptr: none. Both must outlive the run.
  explicit BlockTimeline(sim::Timeline& timeline, sim::SystemObserver* also = nullptr,
                         Kernels kernels = Kernels::streams, std::size_t max_blocks = kMaxBlocks)
      : timeline_(timeline), also_(also), kernels_(kernels), max_blocks_(max_blocks) {}

  void block_began(const sim::ObservedBlock& block, std::uint64_t at, std::uint64_t works_from, bool resumed) override;
  void block_left(const sim::ObservedBlock& block, std::uint64_t at, bool ended) override;
  void cpu_phase(std::uint32_t process, std::uint64_t begin, std::uint64_t end) override;
  void transfer(std::uint32_t process, bool to_device, std::uint64_t bytes, std::uint64_t begin,
                std::uint64_t end) override;
  void launch_began(std::uint32_t process, std::uint32_t stream, const sim::KernelModel& kernel,
                    std::uint64_t at) override;
  void launch_ended(std::uint32_t process, std::uint32_t stream, std::uint64_t at) override;
  void run_ended(std::uint32_t process, std::uint64_t begin, std::uint64_t end) override;
  [[nodiscard]] bool full() const override;

  // Closes the timeline of a run that ended at `end` with `kernels` kernels. A block's instructions are spread evenly
  // over the time that it took.
  void finish(std::uint64_t end, std::size_t kernels);

 private:
  struct Launch {
    std::uint32_t kernel = 0;  // its index in the timeline
    std::uint64_t number = 0;  // among that kernel's launches
    std::uint32_t max_blocks_per_sm = 1;
    std::uint64_t block_instructions = 0;
  };
  struct Work {
    std::uint32_t kernel = 0;
    std::uint64_t begin = 0, end = 0, instructions = 0;
  };
  [[nodiscard]] sim::SeenBlock seen(const sim::ObservedBlock& block) const;

  sim::Timeline& timeline_;
  sim::SystemObserver* const also_;
  const Kernels kernels_;
  const std::size_t max_blocks_;
  std::vector<std::uint64_t> launch_counts_;                                     // by kernel of the timeline
  std::vector<Launch> launches_;                                                 // by client: the latest
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> works_from_;  // by client and block
  std::vector<Work> done_;
  std::size_t seen_blocks_ = 0;  // those that left an SM, ended or preempted
};

}  // namespace wm::lab
