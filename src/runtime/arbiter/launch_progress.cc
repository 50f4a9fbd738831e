#include "runtime/arbiter/launch_progress.h"

#include <algorithm>

namespace wm::runtime {

double LaunchProgress::advance(std::uint64_t launches, std::uint64_t launched_at, std::uint64_t now) {
  if (launches > launches_) {
    if (launched_at > launched_at_ && launched_at_ != 0 && has_begun_)
      interval_ = static_cast<double>(launched_at - launched_at_) / static_cast<double>(launches - launches_);
    launches_ = launches;
    launched_at_ = launched_at;
  }
  double progress = static_cast<double>(launches_);
  if (launched_at_ != 0 && interval_ > 0) {
    const double passed = now > launched_at_ ? static_cast<double>(now - launched_at_) : 0;
    progress += std::min(passed / interval_, 1.0) - 1;
  }
  // Launches before the first call do not count, and progress is never taken back.
  const double advanced = has_begun_ ? std::max(progress - told_, 0.0) : 0;
  told_ = has_begun_ ? std::max(progress, told_) : progress;
  has_begun_ = true;
  return advanced;
}

}  // namespace wm::runtime
