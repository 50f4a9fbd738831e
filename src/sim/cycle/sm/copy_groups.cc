#include "sim/cycle/sm/copy_groups.h"

#include <algorithm>

namespace wm::sim {

std::uint32_t CopyGroups::add(std::optional<std::uint64_t> ready) {
  if (groups_.empty()) groups_.emplace_back();
  Group& open = groups_.back();
  if (ready)
    open.ready = std::max(open.ready, *ready);
  else
    ++open.in_flight;
  return forgotten_ + static_cast<std::uint32_t>(groups_.size() - 1);
}

void CopyGroups::commit(std::uint64_t now) {
  if (groups_.empty()) groups_.emplace_back();
  const auto kept =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.in_flight != 0 || g.ready > now; });
  forgotten_ += static_cast<std::uint32_t>(kept - groups_.begin());
  groups_.erase(groups_.begin(), kept);
  groups_.emplace_back();
}

void CopyGroups::finish(std::uint32_t group, std::uint64_t at) {
  Group& g = groups_[group - forgotten_];
  --g.in_flight;
  g.ready = std::max(g.ready, at);
}

bool CopyGroups::must_wait(const TimedOp& op, std::uint64_t& at) const {
  // The groups that `op` may leave in flight, and the open one.
  const std::size_t left = op.copies == CopyRole::wait_all ? 0 : std::size_t{op.groups} + 1;
  for (std::size_t i = 0; i + left < groups_.size(); ++i) {
    if (groups_[i].in_flight != 0) return true;
    at = std::max(at, groups_[i].ready);
  }
  return false;
}

}  // namespace wm::sim
