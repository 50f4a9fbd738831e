#include "sim/block/cluster/placement.h"

#include <fmt/format.h>

#include "base/nearest.h"

namespace wm::sim {

// Written by the build (placements.cmake).
std::vector<PlacementEntry> generated_placements();

const std::vector<PlacementEntry>& placements() {
  static const std::vector<PlacementEntry> all = generated_placements();
  return all;
}

Result<std::unique_ptr<Placement>> make_placement(const std::string& name) {
  std::vector<std::string> names;
  for (const PlacementEntry& e : placements()) {
    if (e.name == name) return e.make();
    names.emplace_back(e.name);
  }
  return Error{fmt::format("unknown placement '{}'{}", name, did_you_mean(name, names))};
}

}  // namespace wm::sim
