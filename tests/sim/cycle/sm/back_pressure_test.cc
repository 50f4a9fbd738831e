// The counters of an SM while memory holds up its load/store unit.
#include <fmt/format.h>

#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

constexpr auto kLoadStoreUnit = static_cast<std::size_t>(gpu::Unit::load_store);

// One SM that can have 16 lines on their way, and many warps that load lines of their own and wait for none.
Measured stream(std::uint32_t mshrs) {
  gpu::GpuConfig c = test_gpu("qos16");
  c.sm.count = 1;
  c.l1.mshrs = mshrs;
  std::string body = "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r10, 0;\nL:\n";
  for (int i = 0; i < 4; ++i) body += fmt::format("ld.global.f32 %f{}, [%rd3+{}];\n", i, i * 131072);
  body += "add.s64 %rd3, %rd3, 32;\nadd.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 4;\n@%p1 bra L;\n";
  return measure(c, kernel_text(body), 4, 256, std::vector<std::uint64_t>(5 * 131072 / 8));
}

double stalled(const Measured& m, Stall why) {
  return static_cast<double>(m.totals.sm.stalls[static_cast<std::size_t>(why)]) / static_cast<double>(m.cycles) / 4;
}

// Warped-Slicer, equation 3: phi_mem is the part of the cycles in which nothing issues because of memory.
TEST(BackPressure, WaitingForABlockedLoadStoreUnitIsWaitingForMemory) {
  const Measured m = stream(16);
  EXPECT_GT(stalled(m, Stall::memory), 0.8);
  EXPECT_LT(stalled(m, Stall::unit), 0.1);
}

// Warped-Slicer, table II: LBM, which is bound by bandwidth, occupies its load/store units all the time.
TEST(BackPressure, ABlockedLoadStoreUnitIsOccupied) {
  const Measured m = stream(16);
  const auto cycles = static_cast<double>(m.cycles);
  EXPECT_GT(static_cast<double>(m.totals.sm.lsu_blocked_cycles), 0.8 * cycles);
  EXPECT_GT(static_cast<double>(m.totals.sm.unit_cycles[kLoadStoreUnit]), 0.8 * cycles);
  EXPECT_LE(static_cast<double>(m.totals.sm.unit_cycles[kLoadStoreUnit]), cycles);
}

TEST(BackPressure, AnSmWithRoomForAllRequestsIsNotBlocked) {
  EXPECT_EQ(stream(100'000).totals.sm.lsu_blocked_cycles, 0U);
}

}  // namespace
}  // namespace wm::sim
