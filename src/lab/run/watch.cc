#include "lab/run/watch.h"

#include <algorithm>

namespace wm::lab {

void Watch::began(const sim::SeenBlock& block, std::uint64_t at, bool resumed) {
  if (timeline_ != nullptr) timeline_->began(block, at, resumed);
}

void Watch::left(const sim::SeenBlock& block, std::uint64_t at, sim::Left how) {
  if (timeline_ != nullptr) timeline_->left(block, at, how);
  if (how == sim::Left::done) ++done_;
}

void Watch::quantum(const sim::CycleMachine& machine) {
  residency_.see(machine);
  starvation_.look(machine);
  if (region_ != nullptr) region_->look(machine);
  if (timeline_ != nullptr) timeline_->quantum(machine);
  if (!progress_) return;
  double now = 0;
  if (cycles_ != 0) now = static_cast<double>(machine.now().count) / static_cast<double>(cycles_);
  if (blocks_ != 0) now = std::max(now, static_cast<double>(done_) / static_cast<double>(blocks_));
  // A progress bar cannot show less than a hundredth. A long run reports every second, so that a user can interrupt it.
  const auto clock = std::chrono::steady_clock::now();
  if (now < reported_ + 0.01 && clock < reported_at_ + std::chrono::seconds(1)) return;
  reported_ = std::max(reported_, std::min(now, 1.0));
  reported_at_ = clock;
  progress_(reported_);
}

}  // namespace wm::lab
