#include "sim/cycle/alarms.h"

#include <algorithm>

namespace wm::sim {

std::uint64_t Alarms::next() const {
  std::uint64_t first = ~std::uint64_t{0};
  for (const Alarm& a : alarms_) first = std::min(first, a.when);
  return first;
}

std::vector<Alarms::Alarm> Alarms::take_due(std::uint64_t now) {
  std::vector<Alarm> due;
  std::erase_if(alarms_, [&](const Alarm& a) {
    if (a.when > now) return false;
    due.push_back(a);
    return true;
  });
  std::sort(due.begin(), due.end(),
            [](const Alarm& a, const Alarm& b) { return a.when != b.when ? a.when < b.when : a.number < b.number; });
  return due;
}

}  // namespace wm::sim
