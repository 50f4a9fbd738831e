#include "gpu/occupancy.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace wm::gpu {
namespace {

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

// The number of times that `part` fits into `total`; a part of 0 sets no limit.
constexpr std::uint32_t times(std::uint32_t total, std::uint32_t part) {
  return part == 0 ? std::numeric_limits<std::uint32_t>::max() : total / part;
}

}  // namespace

Resources footprint(const BlockDemand& block, const SmLimits& sm) {
  const std::uint32_t warps = (block.threads + sm.warp_threads - 1) / sm.warp_threads;
  return {.threads = warps * sm.warp_threads,
          .registers = warps * round_up(block.registers_per_thread * sm.warp_threads, sm.register_unit),
          .shared_bytes = round_up(block.shared_bytes, sm.shared_unit),
          .blocks = 1};
}

std::uint32_t fit(const Resources& footprint, const Resources& room) {
  if (footprint.threads > room.threads || footprint.registers > room.registers ||
      footprint.shared_bytes > room.shared_bytes || footprint.blocks > room.blocks)
    return 0;  // often asked about full SMs, and divisions take long
  return std::min({times(room.threads, footprint.threads), times(room.registers, footprint.registers),
                   times(room.shared_bytes, footprint.shared_bytes), times(room.blocks, footprint.blocks)});
}

Resources less(const Resources& room, const Resources& footprint, std::uint32_t count) {
  return {room.threads - footprint.threads * count, room.registers - footprint.registers * count,
          room.shared_bytes - footprint.shared_bytes * count, room.blocks - footprint.blocks * count};
}

Resources more(const Resources& room, const Resources& footprint, std::uint32_t count) {
  return {room.threads + footprint.threads * count, room.registers + footprint.registers * count,
          room.shared_bytes + footprint.shared_bytes * count, room.blocks + footprint.blocks * count};
}

double dominant_share(const Resources& footprint, const Resources& total, std::uint32_t count) {
  const auto share = [count](std::uint32_t part, std::uint32_t total) {
    return total == 0 ? 0.0 : static_cast<double>(part) * count / total;
  };
  return std::max({share(footprint.threads, total.threads), share(footprint.registers, total.registers),
                   share(footprint.shared_bytes, total.shared_bytes), share(footprint.blocks, total.blocks)});
}

Result<std::uint32_t> max_blocks(const BlockDemand& block, const SmLimits& sm) {
  if (block.threads == 0) return Error{"a block has no threads"};
  const Resources one = footprint(block, sm);
  const auto refuse = [](std::uint32_t need, const char* what, std::uint32_t have) {
    return Error{fmt::format("a block needs {} {}, an SM has {}", need, what, have)};
  };
  if (one.threads > sm.total.threads) return refuse(one.threads, "threads", sm.total.threads);
  if (one.registers > sm.total.registers) return refuse(one.registers, "registers", sm.total.registers);
  if (one.shared_bytes > sm.total.shared_bytes) {
    return refuse(one.shared_bytes, "bytes of shared memory", sm.total.shared_bytes);
  }
  if (sm.total.blocks == 0) return Error{"the SM has no block slots"};
  return fit(one, sm.total);
}

}  // namespace wm::gpu
