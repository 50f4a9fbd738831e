#include "sim/block/cluster/gpu_pool.h"

#include <algorithm>
#include <bit>

namespace wm::sim {

GpuPool::GpuPool(std::uint32_t gpus, std::uint32_t limit)
    : count_(gpus), leaves_(std::bit_ceil(std::max(1U, gpus))), max_free_(std::size_t{2} * leaves_, 0) {
  for (std::uint32_t i = 0; i < gpus; ++i) {
    max_free_[leaves_ + i] = limit;
    free_.insert({limit, i});
  }
  for (std::uint32_t i = leaves_ - 1; i > 0; --i)
    max_free_[i] = std::max(max_free_[std::size_t{2} * i], max_free_[std::size_t{2} * i + 1]);
}

void GpuPool::set(std::uint32_t gpu, std::uint32_t free) {
  auto node = free_.extract({this->free(gpu), gpu});
  node.value().first = free;
  free_.insert(std::move(node));
  max_free_[leaves_ + gpu] = free;
  for (std::uint32_t i = (leaves_ + gpu) / 2; i > 0; i /= 2)
    max_free_[i] = std::max(max_free_[std::size_t{2} * i], max_free_[std::size_t{2} * i + 1]);
}

std::uint32_t GpuPool::first(std::uint32_t demand, std::uint32_t begin, std::uint32_t end) const {
  // Climbs to the first tree to the right of `begin` with room, then descends to its first GPU with room.
  std::uint32_t i = leaves_ + begin;
  while (max_free_[i] < demand) {
    while ((i & 1U) != 0) i /= 2;  // the right child: its parent's right neighbour follows
    if (i == 0) return kNoGpu;
    ++i;
  }
  while (i < leaves_) {
    i *= 2;
    if (max_free_[i] < demand) ++i;
  }
  return i - leaves_ < end ? i - leaves_ : kNoGpu;
}

std::uint32_t GpuPool::fullest(std::uint32_t demand) const {
  const auto at = free_.lower_bound({demand, 0});
  return at == free_.end() ? kNoGpu : at->second;
}

}  // namespace wm::sim
