// Instruction fetch: a line of code that is not in the instruction cache comes after its latency, and the cycles
// nothing else fills are counted as waiting for it.
#include <fmt/format.h>

#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

constexpr std::size_t kDependency = static_cast<std::size_t>(Stall::dependency);
constexpr std::size_t kFetch = static_cast<std::size_t>(Stall::fetch);

gpu::GpuConfig with_icache(std::uint32_t latency) {
  gpu::GpuConfig c = test_gpu("slicer16");
  c.sm.count = 1;
  c.icache.miss_latency = latency;
  return c;
}

std::string chain_of(int length) {
  std::string text;
  for (int i = 0; i < length; ++i) text += "fma.rn.f32 %f20, %f20, %f1, %f2;\n";
  return text;
}
std::string loop(int length, int rounds) {
  return kernel_text("mov.u32 %r10, 0;\nL:\n" + chain_of(length) +
                     fmt::format("add.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, {};\n@%p1 bra L;\n", rounds));
}
Measured run(const gpu::GpuConfig& c, const std::string& text) { return measure(c, text, 1, 32, {0}); }
std::uint64_t fetching(std::uint32_t latency, const std::string& text) {
  return run(with_icache(latency), text).totals.sm.stalls[kFetch];
}

TEST(Fetch, EveryLineOfStraightCodeIsWaitedForOnce) {
  const gpu::GpuConfig c = with_icache(100);
  const auto line = static_cast<int>(c.icache.line / c.icache.instruction_bytes);
  const auto shorter = run(c, kernel_text(chain_of(line))).totals.sm.stalls;
  const auto longer = run(c, kernel_text(chain_of(3 * line))).totals.sm.stalls;
  // Two lines more: each is asked for when the instruction before it issues, and its first one can issue `latency`
  // later; the others wait for the one before.
  EXPECT_EQ(longer[kFetch] - shorter[kFetch], 2 * 99U);
  const std::uint32_t step = c.sm.units[static_cast<std::size_t>(gpu::Unit::fp32)].latency;
  EXPECT_EQ(longer[kDependency] - shorter[kDependency], 2 * static_cast<std::uint64_t>(line - 1) * (step - 1));
}

TEST(Fetch, ACycleMoreOfLatencyIsACycleMoreForEachLine) {
  // The first of the code's five lines begins with instructions that take no issue slot.
  const std::string text = kernel_text(chain_of(64));
  EXPECT_EQ(fetching(101, text) - fetching(100, text), 4U);
  // Code that comes before the instruction's operands is not waited for at all.
  EXPECT_EQ(fetching(5, text), 0U);
}

TEST(Fetch, ALoopThatFitsIsFetchedOnceAndOneThatDoesNotEachTime) {
  const gpu::GpuConfig c = with_icache(100);
  const auto fits = static_cast<int>(c.icache.bytes / c.icache.instruction_bytes) / 2;
  const auto stalls = [&](int length, int rounds) { return run(c, loop(length, rounds)).totals.sm.stalls[kFetch]; };
  EXPECT_EQ(stalls(fits, 20), stalls(fits, 10));
  const std::uint64_t lines = 4 * c.icache.bytes / c.icache.line;
  EXPECT_GE(stalls(8 * fits, 20), stalls(8 * fits, 10) + 10 * lines * 99);
}

TEST(Fetch, OtherWarpsHideIt) {
  const gpu::GpuConfig c = with_icache(100);
  const std::string text = kernel_text(chain_of(64));
  EXPECT_LT(measure(c, text, 8, 256, {0}).totals.sm.stalls[kFetch], 8 * 8 * run(c, text).totals.sm.stalls[kFetch] / 4);
}

}  // namespace
}  // namespace wm::sim
