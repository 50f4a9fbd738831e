// Caps of launches that run undivided, by the shared memory that their groups occupy.
//
// A group that takes more shared memory than it uses leaves room for fewer groups on its SM. Two kernels that each took
// so much that only their own cap fits would not fit beside each other. So the kernel with the smallest cap has the
// highest priority and takes as much of the SM's shared memory as its cap needs, and the next divides what is left:
// it keeps its cap beside the first, and may exceed it where the first has fewer groups than it may have. Where the
// next kernel's groups use more memory than is left, another order may do.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gpu/occupancy.h"

namespace wm::runtime {

// How an undivided launch keeps the cap of its kernel.
struct UndividedCap {
  std::uint32_t group_bytes = 0;  // shared memory that each group occupies at least
  int priority = 0;               // the number of kernels that come after it

  friend constexpr bool operator==(const UndividedCap&, const UndividedCap&) = default;
};

struct CappedKernel {
  std::uint32_t cap = 0;     // largest number of its groups on an SM
  std::uint32_t groups = 0;  // number of groups of a launch
  gpu::Resources footprint;  // needs of a group that runs undivided
};

// In the order of `kernels`; nothing where a kernel would not have its cap, or would have no room beside the others.
[[nodiscard]] std::optional<std::vector<UndividedCap>> undivided_caps(std::span<const CappedKernel> kernels,
                                                                      const gpu::SmLimits& sm);

}  // namespace wm::runtime
