#include "runtime/client/opencl/connection/shared_memory_pool.h"

#include <algorithm>

namespace wm::runtime::client {

std::optional<Chunk> SharedMemoryPool::allocate_staging(std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto offset = staging_.allocate(size);
  if (!offset) return std::nullopt;
  return Chunk{0, 0, *offset, std::max<std::uint64_t>(size, 1)};
}

Chunk SharedMemoryPool::allocate_region(std::uint64_t size) {
  const std::uint64_t bytes = round_to_pages(std::max<std::uint64_t>(size, 1));
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, region] : regions_) {
      const std::uint64_t has = region.map.bytes().size();
      if (region.in_use || has < bytes || has > 2 * bytes) continue;
      region.in_use = true;
      return {id, 0, 0, size};
    }
  }
  Mapping map;
  const std::uint32_t region = channel_.request_region(bytes, map);
  if (region == 0) return {};
  const std::lock_guard lock(mutex_);
  regions_[region] = Region{std::move(map), true};
  return {region, 0, 0, size};
}

void SharedMemoryPool::free(const Chunk& chunk) {
  std::uint32_t surplus = 0;
  {
    const std::lock_guard lock(mutex_);
    if (chunk.region == 0) {
      staging_.free(chunk.offset, chunk.size);
      return;
    }
    // One idle region is kept for the next transfer of its size; an older one goes back to the system.
    for (const auto& [id, region] : regions_) {
      if (!region.in_use) surplus = id;
    }
    regions_[chunk.region].in_use = false;
    if (surplus != 0) regions_.erase(surplus);
  }
  if (surplus == 0) return;
  Writer message(Op::release);
  message.put(Release{surplus, ObjectKind::region, 0});
  channel_.post(message);
}

std::byte* SharedMemoryPool::address(const Chunk& chunk) {
  if (chunk.region == 0) return channel_.area().staging().data() + chunk.offset;
  const std::lock_guard lock(mutex_);
  return regions_[chunk.region].map.bytes().data() + chunk.offset;
}

}  // namespace wm::runtime::client
