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
  new (map->bytes().data()) AreaHeader();
  return SharedArea(std::move(*map));
}

Result<SharedArea> SharedArea::attach(const Descriptor& file) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || static_cast<std::uint64_t>(facts.st_size) != kAreaBytes) {
    return Error{"the shared area does not have the size of this version"};
  }
  auto map = Mapping::of(file, kAreaBytes);
  if (!map) return map.error();
  SharedArea area(std::move(*map));
  if (area.header().magic != kMagic || area.header().version != kVersion)
    return Error{"not a shared area of this version"};
  return area;
}

void publish(AreaHeader& header, EventRecord& event, std::int32_t state) {
  event.state.store(static_cast<std::uint32_t>(state), std::memory_order_seq_cst);
  if (event.sleepers.load(std::memory_order_seq_cst) != 0) wake_all(event.state);
  header.changes.fetch_add(1, std::memory_order_seq_cst);
  if (header.watchers.load(std::memory_order_seq_cst) != 0) wake_all(header.changes);
}

}  // namespace wm::runtime
