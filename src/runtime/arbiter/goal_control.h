// Adapts the restriction of other programs to the goal of a latency-sensitive one: as much as the goal needs, and no
// more.
#pragma once

#include "runtime/arbiter/decision.h"

namespace wm::runtime {

class GoalControl {
 public:
  explicit GoalControl(const ArbiterOptions& options);

  // The next window does not count: programs have come or gone, and launches from before are still on the device.
  void restart() { skipped_ = 1; }
  // A measured window: what must not be above what, such as the p99 of the requests and the goal for it, or the goal
  // for a rate and the rate.
  void measured(double lower, double upper);
  [[nodiscard]] const Restriction& restriction() const { return restriction_; }
  // Goals were missed with the strictest restriction there is.
  [[nodiscard]] bool is_exhausted() const { return level_ + 1 == kLevels && missed_ > 1; }

 private:
  static constexpr int kLevels = 6;
  void set_level(int level);

  Restriction restriction_;
  int level_ = 0;
  int skipped_ = 0;  // windows to come that do not count
  int met_ = 0;      // windows in a row that met the goal with room to spare
  int missed_ = 0;   // windows in a row that missed it
};

}  // namespace wm::runtime
