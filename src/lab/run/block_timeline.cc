#include "lab/run/block_timeline.h"

#include <algorithm>

namespace wm::lab {

sim::SeenBlock BlockTimeline::seen(const sim::ObservedBlock& block) const {
  const Launch launch = block.client < launches_.size() ? launches_[block.client] : Launch{.kernel = block.client};
  return {.sm = block.sm,
          .client = launch.kernel,
          .launch = launch.number,
          .number = block.block,
          .max_blocks_per_sm = launch.max_blocks_per_sm};
}

void BlockTimeline::block_began(const sim::ObservedBlock& block, std::uint64_t at, std::uint64_t works_from,
                                bool resumed) {
  timeline_.began(seen(block), at, resumed);
  works_from_[{block.client, block.block}] = works_from;
  if (also_ != nullptr) also_->block_began(block, at, works_from, resumed);
}

void BlockTimeline::block_left(const sim::ObservedBlock& block, std::uint64_t at, bool ended) {
  ++seen_blocks_;
  timeline_.left(seen(block), at, ended ? sim::Left::done : sim::Left::preempted);
  const auto began = works_from_.extract({block.client, block.block});
  if (ended && !began.empty() && block.client < launches_.size())
    done_.push_back({launches_[block.client].kernel, began.mapped(), at, launches_[block.client].block_instructions});
  if (also_ != nullptr) also_->block_left(block, at, ended);
}

void BlockTimeline::cpu_phase(std::uint32_t process, std::uint64_t begin, std::uint64_t end) {
  if (also_ != nullptr) also_->cpu_phase(process, begin, end);
}

void BlockTimeline::transfer(std::uint32_t process, bool to_device, std::uint64_t bytes, std::uint64_t begin,
                             std::uint64_t end) {
  if (also_ != nullptr) also_->transfer(process, to_device, bytes, begin, end);
}

void BlockTimeline::launch_began(std::uint32_t process, std::uint32_t stream, const sim::KernelModel& kernel,
                                 std::uint64_t at) {
  if (launches_.size() <= stream) launches_.resize(stream + 1);
  const std::uint32_t row = kernels_ == Kernels::processes ? process : stream;
  if (launch_counts_.size() <= row) launch_counts_.resize(row + 1);
  launches_[stream] = {row, ++launch_counts_[row], kernel.max_blocks_per_sm, kernel.block_instructions};
  if (also_ != nullptr) also_->launch_began(process, stream, kernel, at);
}

void BlockTimeline::launch_ended(std::uint32_t process, std::uint32_t stream, std::uint64_t at) {
  if (also_ != nullptr) also_->launch_ended(process, stream, at);
}

void BlockTimeline::run_ended(std::uint32_t process, std::uint64_t begin, std::uint64_t end) {
  if (also_ != nullptr) also_->run_ended(process, begin, end);
}

bool BlockTimeline::full() const { return seen_blocks_ >= max_blocks_ || (also_ != nullptr && also_->full()); }

void BlockTimeline::finish(std::uint64_t end, std::size_t kernels) {
  constexpr std::uint64_t kIntervals = 200;
  const std::uint64_t length = std::max<std::uint64_t>(1, (end + kIntervals - 1) / kIntervals);
  std::vector<sim::Interval> intervals;
  for (std::uint64_t begin = 0; begin < end; begin += length) {
    intervals.push_back({.begin = begin, .cycles = std::min(length, end - begin), .gated = 0, .kernels = {}});
    intervals.back().kernels.resize(kernels);
  }
  for (const Work& work : done_) {
    if (work.kernel >= kernels || intervals.empty()) continue;
    const std::uint64_t cycles = std::max<std::uint64_t>(1, work.end - std::min(work.begin, work.end));
    std::uint64_t left = work.instructions;
    for (std::uint64_t i = work.begin / length; i < intervals.size() && left != 0; ++i) {
      const std::uint64_t until = intervals[i].begin + intervals[i].cycles;
      const std::uint64_t overlap = std::min(work.end, until) - std::max(work.begin, intervals[i].begin);
      const std::uint64_t part = work.end <= until ? left : work.instructions * overlap / cycles;
      intervals[i].kernels[work.kernel].sm.thread_instructions += part;
      left -= part;
    }
  }
  timeline_.finish(end, std::move(intervals));
}

}  // namespace wm::lab
