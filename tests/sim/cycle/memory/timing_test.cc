// The times that parts of the memory system take, from the latencies that a configuration gives for complete accesses.
#include "sim/cycle/memory/timing.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

gpu::GpuConfig config() {
  gpu::GpuConfig c;
  c.sm.clock_mhz = c.dram.clock_mhz = 1000;
  c.l1.latency = 30;
  c.l2.latency = 200;
  c.dram.latency = 400;
  c.dram.tRCD = 10;
  c.dram.tCL = 20;
  c.dram.bytes_per_clock = 32;
  c.noc.latency = 25;
  c.noc.bytes_per_cycle = 40;
  c.noc.sm_bytes_per_cycle = 40;
  c.noc.far_latency = 0;
  return c;
}

// A reply is a sector of 32 bytes and a header of eight.
TEST(MemoryTiming, PartsAddUpToTheLatencies) {
  const MemoryTiming t = *derive_timing(config());
  EXPECT_EQ(t.noc, 25U);
  EXPECT_EQ(t.miss, 15U);
  EXPECT_EQ(t.l2, 200U - (15 + 2 * 25 + 1 + 1));
  EXPECT_EQ(t.round_trip, 15U + 2 * 25 + t.l2 + 1);
  EXPECT_EQ(t.dram, 400U - 200 - (10 + 20 + 1));
}

TEST(MemoryTiming, APartOfATransferTakesAWholeCycle) {
  const MemoryTiming unchanged = *derive_timing(config());
  const auto with = [](auto&& change) {
    gpu::GpuConfig c = config();
    change(c);
    return *derive_timing(c);
  };
  EXPECT_EQ(with([](auto& c) { c.noc.bytes_per_cycle = 39; }).l2, unchanged.l2 - 1);
  EXPECT_EQ(with([](auto& c) { c.noc.bytes_per_cycle = 41; }).l2, unchanged.l2);
  EXPECT_EQ(with([](auto& c) { c.noc.sm_bytes_per_cycle = 20; }).l2, unchanged.l2 - 1);
  // A header of eight bytes takes two cycles of seven.
  const MemoryTiming narrow = with([](auto& c) { c.noc.sm_bytes_per_cycle = 7; });
  EXPECT_EQ(narrow.round_trip - narrow.l2, unchanged.round_trip - unchanged.l2 + 1);
  EXPECT_EQ(with([](auto& c) { c.dram.bytes_per_clock = 31; }).dram, unchanged.dram - 1);
  EXPECT_EQ(with([](auto& c) { c.dram.bytes_per_clock = 64; }).dram, unchanged.dram);
  EXPECT_EQ(with([](auto& c) { c.dram.clock_mhz = 999; }).dram, unchanged.dram - 1);
}

TEST(MemoryTiming, FarSlicesAreFurtherByHalfInTheMean) {
  gpu::GpuConfig c = config();
  c.noc.far_latency = 11;
  EXPECT_EQ(derive_timing(c)->l2, derive_timing(config())->l2 - 5);
  c.noc.far_latency = 1;
  EXPECT_EQ(derive_timing(c)->l2, derive_timing(config())->l2);
}

TEST(MemoryTiming, LatenciesThatThePartsExceedAreRefused) {
  gpu::GpuConfig c = config();
  c.l2.latency = 67;
  EXPECT_EQ(derive_timing(c).error().what, "l2 latency 67 is less than the way there and back takes (67 cycles)");
  c.l2.latency = 68;
  EXPECT_TRUE(derive_timing(c).ok());
  c.dram.latency = 68 + 31;
  EXPECT_EQ(derive_timing(c).error().what,
            "dram latency 99 is less than l2 latency and opening a row take (99 cycles)");
  c.dram.latency = 100;
  EXPECT_TRUE(derive_timing(c).ok());
}

}  // namespace
}  // namespace wm::sim
