// Divides one SM, or the GPU, among kernels: the number of blocks that each may have.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gpu/occupancy.h"

namespace wm::policy {

// The claim of one kernel: a block's footprint and its weight among the others.
struct Claim {
  gpu::Resources footprint;
  double weight = 1;
  std::uint32_t max_blocks =
      std::numeric_limits<std::uint32_t>::max();  // limit of blocks that it can use (accelos_shares)
};

// Warped-Slicer's "even" (section III): each kernel may fill its own 1/K of every resource. A kernel whose block is
// larger than that still gets one, where the SM can hold it beside the others.
std::vector<std::uint32_t> even_split(std::span<const Claim> claims, const gpu::Resources& sm);

// SMK's blocks by dominant-resource fairness: the kernel with the least dominant share gets the next block, until none
// fits.
std::vector<std::uint32_t> dominant_fair(std::span<const Claim> claims, const gpu::Resources& sm);

// The QoS paper's start (section 3.6): as equal numbers of threads as whole blocks allow, and at least one block each.
// If another resource does not suffice for that, those kernels lose blocks whose loss leaves the numbers most equal.
std::vector<std::uint32_t> equal_threads(std::span<const Claim> claims, const gpu::Resources& sm);

// accelOS (section 3): x_i = T/(K w_i), y_i = L/(K m_i), z_i = R/(K r_i) and the least of them, by weight where weights
// differ; then block by block round robin until nothing more fits into `room`. 0 for a kernel that does not fit at all.
// No kernel gets more than `max_blocks`.
std::vector<std::uint32_t> accelos_shares(std::span<const Claim> claims, const gpu::Resources& total,
                                          const gpu::Resources& room, double weight_of_all);

// Whether these counts of blocks fit together.
bool fits_together(std::span<const Claim> claims, std::span<const std::uint32_t> counts, const gpu::Resources& sm);

// Divides `total` in proportion to weights; the rest from rounding goes to the first ones, one each.
std::vector<std::uint32_t> proportional(std::uint32_t total, std::span<const double> weights);

}  // namespace wm::policy
