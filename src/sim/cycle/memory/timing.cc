#include "sim/cycle/memory/timing.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/cycle/memory/message.h"

namespace wm::sim {
namespace {

// A replied sector's way over a slice's and an SM's port.
std::uint32_t reply_cycles(const gpu::GpuConfig& c) {
  const auto over = [](std::uint32_t port) { return (kSectorBytes + kHeaderBytes + port - 1) / port; };
  return over(c.noc.bytes_per_cycle) + over(c.noc.sm_port());
}

std::uint32_t row_open_cycles(const gpu::GpuConfig& c) {
  const std::uint64_t clocks =
      c.dram.tRCD + c.dram.tCL + (kSectorBytes + c.dram.bytes_per_clock - 1) / c.dram.bytes_per_clock;
  return static_cast<std::uint32_t>((clocks * c.sm.clock_mhz + c.dram.clock_mhz - 1) / c.dram.clock_mhz);
}

}  // namespace

Result<MemoryTiming> derive_timing(const gpu::GpuConfig& c) {
  MemoryTiming t;
  t.noc = c.noc.latency;
  t.miss = c.l1.latency / 2;
  const std::uint32_t travel =
      t.miss + 2 * t.noc + reply_cycles(c) + (c.noc.far_latency - std::min(1U, c.noc.far_latency)) / 2;
  if (c.l2.latency <= travel)
    return Error{
        fmt::format("l2 latency {} is less than the way there and back takes ({} cycles)", c.l2.latency, travel)};
  t.l2 = c.l2.latency - travel;
  const std::uint32_t header = (kHeaderBytes + c.noc.sm_port() - 1) / c.noc.sm_port();
  t.round_trip = t.miss + 2 * t.noc + t.l2 + header;
  const std::uint32_t open = row_open_cycles(c);
  if (c.dram.latency <= c.l2.latency + open)
    return Error{fmt::format("dram latency {} is less than l2 latency and opening a row take ({} cycles)",
                             c.dram.latency, c.l2.latency + open)};
  t.dram = c.dram.latency - c.l2.latency - open;
  return t;
}

}  // namespace wm::sim
