#include "sim/block/kernel_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <queue>
#include <vector>

namespace wm::sim {
namespace {

Error refuse(const KernelDescription& k, std::uint32_t need, const char* what, std::uint32_t have) {
  return Error{fmt::format("kernel '{}': a block needs {} {}, an SM has {}", k.name, need, what, have)};
}

// Work is counted in 1/65536 of a cycle, in 64 bits.
constexpr double kMaxBlockCycles = 1e13;
constexpr std::uint64_t kMaxBlockInstructions = 1'000'000'000'000'000;
// The first blocks of larger grids are simulated; the rest adds its mean time.
constexpr std::uint32_t kSimulatedBlocks = 10'000'000;

std::uint64_t cycles_of(double picoseconds, Hertz clock) {
  return std::max<std::uint64_t>(1, std::llround(picoseconds * static_cast<double>(clock.count) * 1e-12));
}

}  // namespace

double makespan(std::uint32_t blocks, std::uint32_t slots, const DurationShape& shape, std::uint64_t seed) {
  if (shape.fixed()) return std::ceil(static_cast<double>(blocks) / slots);
  if (blocks > kSimulatedBlocks && kSimulatedBlocks > slots)
    return makespan(kSimulatedBlocks, slots, shape, seed) + static_cast<double>(blocks - kSimulatedBlocks) / slots;
  constexpr Cycles kMean{1'000'000};
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> ends;
  std::uint64_t last = 0;
  for (std::uint32_t i = 0; i < blocks; ++i) {
    std::uint64_t begin = 0;
    if (ends.size() == slots) {
      begin = ends.top();
      ends.pop();
    }
    ends.push(begin + shape.duration(kMean, seed, i));
    last = std::max(last, begin + shape.duration(kMean, seed, i));
  }
  return static_cast<double>(last) / static_cast<double>(kMean.count);
}

Result<KernelModel> place_kernel(const KernelDescription& k, const gpu::SmLimits& sm, Hertz clock,
                                 std::span<const std::uint32_t> configurations) {
  const gpu::Resources& total = sm.total;
  KernelModel m;
  m.name = k.name;
  m.blocks = k.blocks;
  m.shape = k.shape;
  if (k.threads > total.threads) return refuse(k, k.threads, "threads", total.threads);
  m.warps_per_block = (k.threads + sm.warp_threads - 1) / sm.warp_threads;
  // In a smaller configuration a block takes a larger part: in 16 of 48 KB, three times the part of the SM.
  std::uint64_t shared = k.shared_bytes;
  const auto fits =
      std::find_if(configurations.begin(), configurations.end(), [&](std::uint32_t c) { return k.shared_bytes <= c; });
  if (fits != configurations.end() && *fits < total.shared_bytes) shared = shared * total.shared_bytes / *fits;
  m.footprint = {m.warps_per_block * sm.warp_threads, k.registers, static_cast<std::uint32_t>(shared), 1};
  if (m.footprint.threads > total.threads) return refuse(k, m.footprint.threads, "threads", total.threads);
  if (k.registers > total.registers) return refuse(k, k.registers, "registers", total.registers);
  if (k.shared_bytes > total.shared_bytes)
    return refuse(k, k.shared_bytes, "bytes of shared memory", total.shared_bytes);
  m.max_blocks_per_sm = gpu::fit(m.footprint, total);
  // The part is a whole number of bytes: rounded down, one block more could fit than the configuration holds.
  if (fits != configurations.end() && k.shared_bytes != 0)
    m.max_blocks_per_sm = std::min(m.max_blocks_per_sm, *fits / k.shared_bytes);
  m.context_bytes = std::uint64_t{k.registers} * 4 + k.shared_bytes;

  double block_time = static_cast<double>(k.block_time.count);
  if (k.block_time.count == 0) {
    const std::uint32_t slots = std::max(1U, k.measured_sms) * m.max_blocks_per_sm;
    // The last blocks determine the time of a small launch, so the mean over several launches is used.
    const std::uint32_t launches = k.shape.fixed() ? 1 : std::clamp(100'000 / k.blocks, 1U, 64U);
    double waves = 0;
    for (std::uint32_t i = 0; i < launches; ++i) waves += makespan(k.blocks, slots, k.shape, mix_bits(i)) / launches;
    block_time = static_cast<double>(k.kernel_time.count) / waves;
  }
  const double longest = block_time * k.shape.longest() * static_cast<double>(clock.count) * 1e-12;
  if (!(longest <= kMaxBlockCycles))
    return Error{fmt::format("kernel '{}': a block takes {:.3g} cycles, at most {:.0e} can be simulated", k.name,
                             longest, kMaxBlockCycles)};
  if (k.block_instructions > kMaxBlockInstructions)
    return Error{fmt::format("kernel '{}': a block has {} instructions, at most {} can be simulated", k.name,
                             k.block_instructions, kMaxBlockInstructions)};
  m.block_time = {cycles_of(block_time, clock)};
  m.block_instructions =
      k.block_instructions != 0 ? k.block_instructions : 32 * m.block_time.count / m.max_blocks_per_sm + 1;
  // At full occupancy the demand on the SM's limiting resource is 1 / saturation times its capacity.
  const double saturation = std::clamp(k.saturation, 0.01, 1.0);
  m.unhindered_rate = static_cast<std::uint64_t>(static_cast<double>(kOne) / saturation);
  m.demand = m.unhindered_rate / m.max_blocks_per_sm;
  return m;
}

}  // namespace wm::sim
