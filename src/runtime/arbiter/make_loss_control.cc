#include "runtime/arbiter/make_loss_control.h"

#include <algorithm>

#include "runtime/arbiter/limit_search.h"

namespace wm::runtime {

std::unique_ptr<LossControl> make_loss_control(const ArbiterOptions& options) {
  const double bound = max_loss(options);
  if (options.sharing == Sharing::isolated) {
    if (bound < 1) return std::make_unique<SliceBudget>(bound, options.slice_microseconds);
    return std::make_unique<FixedRestriction>(Restriction{100, options.slice_microseconds});
  }
  if (!options.headroom_percent) return std::make_unique<LimitSearch>(bound);
  return std::make_unique<FixedRestriction>(Restriction{100 - std::min(*options.headroom_percent, 99U), 0});
}

}  // namespace wm::runtime
