#include "sim/block/sm_unit.h"

#include <utility>

namespace wm::sim {

WorkGroup& SmUnit::group_of(std::uint32_t client, const KernelModel& kernel, std::uint64_t now) {
  for (WorkGroup& g : groups_)
    if (g.client() == client) return g;
  if (spare_.empty()) {
    groups_.emplace_back();
  } else {
    groups_.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  groups_.back().reset(client, kernel, now);
  contended_ = groups_.size() > 1 || kernel.unhindered_rate != kOne;
  return groups_.back();
}

void SmUnit::drop_empty_groups() {
  for (std::size_t i = 0; i < groups_.size();) {
    if (groups_[i].empty()) {
      spare_.push_back(std::move(groups_[i]));
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

std::uint64_t SmUnit::restore(std::uint64_t bytes, std::uint64_t from) {
  if (restore_.bytes != bytes) restore_ = {bytes, transfer_cycles(bytes)};
  port_free_ = std::max(port_free_, from) + restore_.cycles;
  return port_free_;
}

// The port is free once the contexts on their way have been saved and the blocks that stay have been restored. A block
// in its SM's setup counts as one that is being restored; the port is then at most found free later than it is.
void SmUnit::abandon_restores(std::uint64_t from) {
  if (port_free_ <= from) return;
  std::uint64_t free = from;
  for (const Leaving& l : leaving_)
    if (l.at != kNoEvent) free = std::max(free, l.at);
  for (const WorkGroup& g : groups_)
    for (std::uint32_t i = 0; i < g.size(); ++i) free = std::max(free, g.begin_of(g[i]));
  port_free_ = std::min(port_free_, free);
}

void SmUnit::set_rates(std::uint64_t now) {
  if (!contended_) return;
  std::uint64_t load = 0;  // U, in 1/65536
  for (const WorkGroup& g : groups_) load += g.load();
  load = std::max(load, kOne);
  contended_ = groups_.size() > 1;
  for (WorkGroup& g : groups_) {
    contended_ |= g.unhindered() != kOne;
    g.set_load(load, now);
  }
}

void SmUnit::find_next() {
  next_ = leaving_.empty() ? kNoEvent : leaving_.front().at;
  for (const WorkGroup& g : groups_) next_ = std::min(next_, g.cycle_of(g.first_end()));
}

}  // namespace wm::sim
