#include "lab/watch.h"

#include <algorithm>

#include "lab/corun.h"

namespace wm::lab {

std::uint64_t blocks_of(const Participant& p) {
  std::uint64_t blocks = 0;
  for (const gpu::Step& step : p.application->steps) {
    const auto* launch = std::get_if<gpu::Launch>(&step);
    if (launch != nullptr && (p.entry.empty() || launch->kernel == p.entry)) blocks += launch->grid.count();
  }
  return blocks * p.launches;
}

void Watch::began(const sim::SeenBlock& block, std::uint64_t at, bool resumed) {
  if (timeline_ != nullptr) timeline_->began(block, at, resumed);
}

void Watch::left(const sim::SeenBlock& block, std::uint64_t at, sim::Left how) {
  if (timeline_ != nullptr) timeline_->left(block, at, how);
  if (how == sim::Left::done) ++done_;
}

void Watch::quantum(const sim::CycleMachine& machine) {
  residency_.see(machine);
  if (timeline_ != nullptr) timeline_->quantum(machine);
  if (!progress_) return;
  double now = 0;
  if (cycles_ != 0) now = static_cast<double>(machine.now().count) / static_cast<double>(cycles_);
  if (blocks_ != 0) now = std::max(now, static_cast<double>(done_) / static_cast<double>(blocks_));
  // A hundredth is all that anyone can see.
  if (now < told_ + 0.01) return;
  told_ = std::min(now, 1.0);
  progress_(told_);
}

}  // namespace wm::lab
