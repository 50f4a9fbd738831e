#include "runtime/schedule/rules/priority_headroom.h"

#include <algorithm>
#include <fmt/format.h>

namespace wm::runtime {
namespace {

constexpr std::uint64_t kActiveNanoseconds = 1'000'000'000;

}  // namespace

std::string PriorityHeadroom::description() const {
  const std::string isolated =
      isolated_short_ > 0
          ? fmt::format("; launches below {:g} µs of an isolated client run unmodified, too", isolated_short_ * 1e-3)
          : "";
  return fmt::format(
      "beside a client of higher priority, which starts at once, launches run unmodified and leave {:g}% of every "
      "compute unit free{}{}",
      headroom_ * 100, gates_ ? " and pause while its launches run" : "", isolated);
}

bool PriorityHeadroom::is_active(std::uint64_t last) const { return clock_.now() - last < kActiveNanoseconds; }

bool PriorityHeadroom::higher_is_active(int priority) const {
  return std::any_of(last_launch_.upper_bound(priority), last_launch_.end(),
                     [this](const auto& entry) { return is_active(entry.second); });
}

bool PriorityHeadroom::lower_is_active(int priority) const {
  return std::any_of(last_launch_.begin(), last_launch_.lower_bound(priority),
                     [this](const auto& entry) { return is_active(entry.second); });
}

bool PriorityHeadroom::runs_unmodified(const LaunchQuery& query) const {
  return higher_is_active(query.priority) || (query.isolated && query.expected && *query.expected < isolated_short_);
}

bool PriorityHeadroom::starts_at_once(const LaunchQuery& query) const { return lower_is_active(query.priority); }

void PriorityHeadroom::share(const LaunchQuery& query, LaunchSharing& sharing) const {
  sharing.priority = query.priority;
  if (higher_is_active(query.priority)) {
    sharing.unit_share = 1 - headroom_;
    sharing.yields = gates_;
  } else {
    sharing.holds_gates = gates_ && lower_is_active(query.priority);
  }
}

void PriorityHeadroom::note_launch(const LaunchQuery& query) { last_launch_[query.priority] = clock_.now(); }

}  // namespace wm::runtime
