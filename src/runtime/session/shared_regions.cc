#include "runtime/session/shared_regions.h"

namespace wm::runtime {

std::uint32_t SharedRegions::add(std::uint64_t size, Descriptor& file) {
  if (size > max_bytes_) return 0;
  auto memory = sealed_memory("warpmux-region", size);
  if (!memory) return 0;
  auto map = Mapping::of(*memory, size);
  if (!map) return 0;
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = size;  // regions that store a buffer are counted with the buffer
  for (const auto& [id, region] : regions_) bytes += region->bytes().size();
  if (bytes > max_bytes_) return 0;
  std::erase_if(buffer_regions_, [](const auto& region) { return region.expired(); });
  if (regions_.size() >= kMaxRegions || buffer_regions_.size() >= kMaxBufferRegions || closed_) return 0;
  file = std::move(*memory);
  regions_[next_region_] = std::make_shared<Mapping>(std::move(*map));
  return next_region_++;
}

std::shared_ptr<Mapping> SharedRegions::take_for_buffer(std::uint32_t region, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto it = regions_.find(region);
  if (it == regions_.end() || it->second->bytes().size() < size) return nullptr;
  auto place = it->second;
  buffer_regions_.push_back(place);
  regions_.erase(it);
  return place;
}

std::shared_ptr<Mapping> SharedRegions::remove(std::uint32_t region) {
  const std::lock_guard lock(mutex_);
  const auto it = regions_.find(region);
  if (it == regions_.end()) return nullptr;
  auto removed = std::move(it->second);
  regions_.erase(it);
  return removed;
}

SharedBytes SharedRegions::find(const Chunk& chunk) const {
  SharedBytes all{area_->staging(), nullptr};
  if (chunk.region != 0) {
    const std::lock_guard lock(mutex_);
    const auto it = regions_.find(chunk.region);
    if (it == regions_.end()) return {};
    all = {it->second->bytes(), it->second};
  }
  if (chunk.offset > all.bytes.size() || chunk.size > all.bytes.size() - chunk.offset) return {};
  return {all.bytes.subspan(chunk.offset, chunk.size), std::move(all.region)};
}

void SharedRegions::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace wm::runtime
