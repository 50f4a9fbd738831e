// Compute units for launches: how many each one's share of the device comes to, and what its workers do about it.
#include <algorithm>

#include "runtime/daemon/scheduler.h"
#include "runtime/daemon/session.h"

namespace wm::runtime {

struct Scheduler::UnitPart {
  Node* node;
  std::uint32_t each;     // of its groups a unit runs at once
  std::uint32_t workers;  // or groups, that it may have
  std::uint32_t units;
};

std::vector<Scheduler::UnitPart> Scheduler::unit_parts() {
  std::vector<UnitPart> parts;
  for (const auto& [id, node] : running_) {
    const policy::Kernel* view = machine_.find(node->kernel);
    if (view == nullptr || (node->workers && node->workers->exhausted)) continue;
    const std::uint32_t each = std::max(gpu::fit(view->footprint, unit_room_), 1U);
    const std::uint32_t workers = std::min(machine_.slots({0})[node->kernel.index].cap, view->resident + view->waiting);
    if (workers == 0) continue;
    parts.push_back({node.get(), each, workers, std::clamp(workers / each, 1U, units_.count())});
  }
  return parts;
}

void Scheduler::divide_units() {
  if (!units_.known()) return;
  auto parts = unit_parts();
  std::uint32_t taken = 0;
  for (const UnitPart& p : parts) taken += p.units;
  while (taken > units_.count()) {
    const auto most = std::max_element(parts.begin(), parts.end(),
                                       [](const UnitPart& a, const UnitPart& b) { return a.units < b.units; });
    if (most->units <= 1) break;  // more launches than units
    --most->units;
    --taken;
  }
  // What rounding left goes to those that have more groups than room; then few groups spread out, as they would alone.
  for (const bool spread : {false, true}) {
    for (bool any = true; any && taken < units_.count();) {
      any = false;
      for (UnitPart& p : parts) {
        const std::uint32_t useful = spread ? p.workers : (p.workers + p.each - 1) / p.each;
        if (p.units >= useful || taken >= units_.count()) continue;
        ++p.units;
        ++taken;
        any = true;
      }
    }
  }
  std::vector<Units::Wish> wishes;
  std::vector<std::uint32_t> had;
  for (const UnitPart& p : parts) {
    wishes.push_back({tag_of(*p.node), p.units});
    had.push_back(units_.of(wishes.back().tag));
  }
  if (units_.divide(wishes)) unit_table_.write(units_.table());
  // Groups that nobody can stop sit on units that we do not know: every launch leaves as many of its own free.
  std::uint32_t lost = 0;
  for (const NodePtr& node : left_behind_) lost += node->held->groups;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const UnitPart& p = parts[i];
    if (!p.node->workers) continue;
    const std::uint32_t has = units_.of(wishes[i].tag);
    if (has < had[i]) lose_units(*p.node, had[i], has);
    machine_.bound(p.node->kernel, std::max(has - std::min(has, lost), 1U) * p.each);
  }
}

// Its workers are spread evenly: those on the units that it lost leave when their group ends.
void Scheduler::lose_units(Node& node, std::uint32_t had, std::uint32_t has) {
  const policy::Kernel* view = machine_.find(node.kernel);
  const std::uint64_t gone = (std::uint64_t{view->resident} * (had - has) + had - 1) / had;
  if (gone != 0) shrink(node, static_cast<std::uint32_t>(gone));
}

}  // namespace wm::runtime
