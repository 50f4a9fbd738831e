#include "runtime/arbiter/goal_control.h"

#include <algorithm>

namespace wm::runtime {

namespace {

constexpr std::uint32_t kOccupancies[] = {100, 75, 50, 38, 25, 12};
constexpr std::uint32_t kSlices[] = {2048, 1000, 500, 200, 150, 100};
// A looser restriction is tried after so many windows that had this part of the goal to spare.
constexpr int kWindowsToLoosen = 4;
constexpr double kRoomToSpare = 0.7;

}  // namespace

GoalControl::GoalControl(const ArbiterOptions& options)
    : restriction_{100 - std::min(options.headroom_percent.value_or(50), 99U), options.slice_microseconds} {
  while (level_ + 1 < kLevels &&
         (options.sharing == Sharing::mps ? kOccupancies[level_] > restriction_.occupancy_percent
                                          : kSlices[level_] > restriction_.slice_microseconds)) {
    ++level_;
  }
}

void GoalControl::set_level(int level) {
  met_ = 0;
  level = std::clamp(level, 0, kLevels - 1);
  if (level != level_) skipped_ = 1;  // launches from before the change are still on the device
  level_ = level;
  restriction_ = {kOccupancies[level_], kSlices[level_]};
}

void GoalControl::measured(double lower, double upper) {
  if (skipped_ > 0) {
    --skipped_;
    return;
  }
  if (lower > upper) {
    ++missed_;
    set_level(level_ + 1);
    return;
  }
  missed_ = 0;
  met_ = lower < kRoomToSpare * upper ? met_ + 1 : 0;
  if (met_ >= kWindowsToLoosen) set_level(level_ - 1);
}

}  // namespace wm::runtime
