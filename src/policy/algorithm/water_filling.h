// Warped-Slicer's partition of one SM (ISCA 2016, algorithm 1): raise the kernel that loses most, until nothing fits
// any more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/occupancy.h"

namespace wm::policy {

// One kernel that gets a part of an SM. `performance[j - 1]` is P(i, j): its rate with j blocks relative to its best
// rate; the last entry is for the maximum number of blocks on an SM.
struct Sharer {
  std::span<const double> performance;
  gpu::Resources footprint;
};

// Blocks per kernel that maximise the least P(i, T_i) (equation 1), at least one each; nothing if one of each
// does not fit.
std::optional<std::vector<std::uint32_t>> water_fill(std::span<const Sharer> sharers, const gpu::Resources& total);

// Equation 3: scales the rate sampled on an SM to the case that every SM runs as many blocks. `memory_stalls` is
// phi_mem.
double scale_for_bandwidth(double sampled_ipc, double memory_stalls, double psi);

// psi = B_scaled / B_sampled - 1, with the paper's "bandwidth consumed is proportional to the number of CTAs": an SM
// with more blocks than the mean over the SMs that are sampled at the same time has more bandwidth than its equal part,
// which it would have if all ran as many. Equation 4 prints the reciprocal, with which a kernel that fills the
// bandwidth with one block per SM would need all of its blocks (table III gives LBM and MVP one).
inline double psi_of_shares(double blocks, double average_blocks) { return average_blocks / blocks - 1; }
inline double psi_as_printed(double blocks, double average_blocks) { return blocks / average_blocks - 1; }

// Equation 2 with counters: the part of its rate that an SM keeps when every SM runs as many blocks. All SMs together
// cannot move more than the DRAM can, so that an SM has its equal part at most, whatever it had in the sample.
inline double part_kept_at(double sampled_bandwidth, double equal_bandwidth) {
  return sampled_bandwidth > equal_bandwidth ? equal_bandwidth / sampled_bandwidth : 1;
}

// A curve relative to its best point.
std::vector<double> normalized(std::span<const double> ipc);

// Every choice of blocks, at least one of each kernel, that fits into `total`; the last kernel's count runs fastest.
std::vector<std::vector<std::uint32_t>> combinations(std::span<const gpu::Resources> footprints,
                                                     const gpu::Resources& total);

}  // namespace wm::policy
