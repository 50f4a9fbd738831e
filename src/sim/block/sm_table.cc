#include "sim/block/sm_table.h"

#include <utility>

namespace wm::sim {

SmTable::SmTable(std::uint32_t sms, const gpu::Resources& total, std::uint64_t bytes_per_cycle)
    : views_(sms), residents_(sms), calendar_(sms) {
  for (std::uint32_t i = 0; i < sms; ++i) {
    views_[i].id = {i};
    views_[i].index = i;
    views_[i].free = total;
    entries_.push_back(
        {.unit = SmUnit(bytes_per_cycle), .retired = {}, .epoch_base = {}, .counted = {}, .is_counted = {}});
  }
}

void SmTable::add_client() {
  for (std::uint32_t i = 0; i < count(); ++i) {
    residents_[i].emplace_back();
    entries_[i].retired.push_back(0);
    entries_[i].epoch_base.push_back(0);
    entries_[i].is_counted.push_back(0);
  }
}

void SmTable::enter(std::uint32_t sm, const policy::Kernel& kernel, std::uint32_t blocks) {
  policy::Sm& view = views_[sm];
  view.free = gpu::less(view.free, kernel.footprint, blocks);
  view.resident += blocks;
  Entry& entry = entries_[sm];
  const std::uint32_t client = kernel.id.index;
  residents_[sm][client].resident += blocks;
  entry.idle_told = false;
  if (std::exchange(entry.is_counted[client], 1) == 0) entry.counted.push_back(client);
}

void SmTable::leave(std::uint32_t sm, const policy::Kernel& kernel, std::uint32_t blocks) {
  policy::Sm& view = views_[sm];
  view.free = gpu::more(view.free, kernel.footprint, blocks);
  view.resident -= blocks;
  residents_[sm][kernel.id.index].resident -= blocks;
}

}  // namespace wm::sim
