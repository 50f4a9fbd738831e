#include "runtime/schedule/undivided_caps.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace wm::runtime {
namespace {

// The shared memory of which `cap` groups fit into `room`, and no more.
std::uint32_t bytes_for(std::uint32_t cap, std::uint32_t room, std::uint32_t unit) {
  return (room / (cap + 1) + unit) / unit * unit;
}

std::optional<std::vector<UndividedCap>> caps_in_order(std::span<const CappedKernel> kernels, const gpu::SmLimits& sm,
                                                       std::span<const std::size_t> order) {
  std::vector<UndividedCap> caps(kernels.size());
  gpu::Resources room = sm.total;
  auto after = static_cast<int>(kernels.size());
  for (const std::size_t i : order) {
    const CappedKernel& kernel = kernels[i];
    gpu::Resources group = kernel.footprint;
    // Without a cap as many would fit as the kernel may have, or fewer.
    const bool is_limited = kernel.cap < gpu::fit(group, sm.total);
    if (is_limited) {
      group.shared_bytes = std::max(group.shared_bytes, bytes_for(kernel.cap, room.shared_bytes, sm.shared_unit));
    }
    const std::uint32_t placed = std::min(kernel.cap, gpu::fit(group, room));
    const bool has_memory = std::uint64_t{kernel.cap} * group.shared_bytes <= room.shared_bytes;
    if (placed == 0 || (is_limited && !has_memory)) return std::nullopt;
    caps[i] = {group.shared_bytes, --after};
    room = gpu::less(room, group, placed);
  }
  return caps;
}

}  // namespace

std::optional<std::vector<UndividedCap>> undivided_caps(std::span<const CappedKernel> kernels,
                                                        const gpu::SmLimits& sm) {
  constexpr std::size_t kMaxPermuted = 4;  // more kernels are tried in one order only
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto comes_first = [&](std::size_t a, std::size_t b) {
    return std::tie(kernels[a].cap, kernels[a].groups, a) < std::tie(kernels[b].cap, kernels[b].groups, b);
  };
  std::sort(order.begin(), order.end(), comes_first);
  do {
    if (auto caps = caps_in_order(kernels, sm, order)) return caps;
  } while (kernels.size() <= kMaxPermuted && std::next_permutation(order.begin(), order.end(), comes_first));
  return std::nullopt;
}

}  // namespace wm::runtime
