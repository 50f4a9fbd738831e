#include "sim/block/sm_table.h"

namespace wm::sim {

SmTable::SmTable(std::uint32_t sms, const gpu::Resources& total, std::uint64_t bytes_per_cycle)
    : views_(sms), residents_(sms), calendar_(sms) {
  for (std::uint32_t i = 0; i < sms; ++i) {
    views_[i].id = {i};
    views_[i].index = i;
    views_[i].free = total;
    entries_.push_back({.unit = SmUnit(bytes_per_cycle), .retired = {}, .epoch_base = {}});
  }
}

void SmTable::add_client() {
  for (std::uint32_t i = 0; i < count(); ++i) {
    residents_[i].emplace_back();
    entries_[i].retired.push_back(0);
    entries_[i].epoch_base.push_back(0);
  }
}

void SmTable::enter(std::uint32_t sm, const policy::Kernel& kernel, std::uint32_t blocks) {
  policy::Sm& view = views_[sm];
  view.free = gpu::less(view.free, kernel.footprint, blocks);
  view.resident += blocks;
  residents_[sm][kernel.id.index].resident += blocks;
  entries_[sm].idle_told = false;
}

void SmTable::leave(std::uint32_t sm, const policy::Kernel& kernel, std::uint32_t blocks) {
  policy::Sm& view = views_[sm];
  view.free = gpu::more(view.free, kernel.footprint, blocks);
  view.resident -= blocks;
  residents_[sm][kernel.id.index].resident -= blocks;
}

}  // namespace wm::sim
