#include "sim/cycle/sm/scoreboard.h"

namespace wm::sim {

void Scoreboard::begin_epoch(std::uint64_t now) {
  const std::uint64_t by = now - epoch_;
  for (std::vector<Time>& row : rows_)
    for (Time& usable : row)
      if (usable != kUnknown) usable = usable > by ? static_cast<Time>(usable - by) : 0;
  epoch_ = now;
}

}  // namespace wm::sim
