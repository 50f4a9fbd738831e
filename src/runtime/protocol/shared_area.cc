#include "runtime/protocol/shared_area.h"

#include <new>
#include <sys/stat.h>

namespace wm::runtime {

Result<SharedArea> SharedArea::make(Descriptor& file) {
  auto made = sealed_memory("warpmux", kAreaBytes);
  if (!made) return made.error();
  file = std::move(*made);
  auto map = Mapping::of(file, kAreaBytes);
  if (!map) return map.error();
  new (map->bytes().data()) AreaHead();
  return SharedArea(std::move(*map));
}

Result<SharedArea> SharedArea::attach(const Descriptor& file) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || static_cast<std::uint64_t>(facts.st_size) != kAreaBytes) {
    return Error{"the shared area has another size than this version's"};
  }
  auto map = Mapping::of(file, kAreaBytes);
  if (!map) return map.error();
  SharedArea area(std::move(*map));
  if (area.head().magic != kMagic || area.head().version != kVersion) return Error{"not a shared area of this version"};
  return area;
}

void publish(AreaHead& head, EventSlot& slot, std::int32_t state) {
  slot.state.store(static_cast<std::uint32_t>(state), std::memory_order_seq_cst);
  if (slot.sleepers.load(std::memory_order_seq_cst) != 0) wake_all(slot.state);
  head.changes.fetch_add(1, std::memory_order_seq_cst);
  if (head.watchers.load(std::memory_order_seq_cst) != 0) wake_all(head.changes);
}

}  // namespace wm::runtime
