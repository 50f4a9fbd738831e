// Cycles of a branch: its guard arrives late, a taken one takes longer, lanes that part join again.
#include <fmt/format.h>

#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

constexpr std::uint32_t kLatency = 4;    // the latency of every unit
constexpr std::uint64_t kRounds = 8192;  // the machine's clock goes in steps of hundreds of cycles
constexpr double kNear = 0.2;

gpu::GpuConfig simple_gpu() {
  gpu::GpuConfig c = test_gpu("qos16");
  c.sm.count = 1;
  c.sm.units.fill({.latency = kLatency, .lanes = 32, .per_sm = false});
  return c;
}

// Cycles that a round takes one warp. `behind`: between the compare of the loop and its branch.
double round(const gpu::GpuConfig& c, const std::string& body, const std::string& behind = "") {
  const auto text = [&](std::uint64_t loops) {
    // %p2: lanes with an odd number; %p3: all lanes; %p4: none.
    return kernel_text(
        "and.b32 %r11, %r1, 1;\nsetp.eq.u32 %p2, %r11, 1;\nsetp.lt.u32 %p3, %r11, 2;\n"
        "setp.gt.u32 %p4, %r11, 1;\nmov.u32 %r10, 0;\nL:\n" +
        body + "add.s32 %r10, %r10, 1;\n" + fmt::format("setp.lt.u32 %p1, %r10, {};\n", loops) + behind +
        "@%p1 bra L;\n");
  };
  const std::uint64_t few = measure(c, text(kRounds), 1, 32, {0}).cycles;
  return static_cast<double>(measure(c, text(2 * kRounds), 1, 32, {0}).cycles - few) / kRounds;
}

// A branch over a few instructions, with that guard.
std::string skip(const std::string& guard) {
  return "@" + guard + " bra S;\nxor.b32 %r20, %r20, %r1;\nxor.b32 %r21, %r21, %r1;\nS:\n";
}

std::string independent(std::uint32_t count) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) text += fmt::format("xor.b32 %r{0}, %r{0}, %r1;\n", 20 + i);
  return text;
}

TEST(BranchGuard, ArrivesLaterThanOtherResultsOfItsCompare) {
  const gpu::GpuConfig without = simple_gpu();
  gpu::GpuConfig with = without;
  with.sm.branch_guard_latency = 11;
  const auto added = [&](std::uint32_t between) {
    return round(with, "", independent(between)) - round(without, "", independent(between));
  };
  EXPECT_NEAR(added(0), 11, kNear);
  // The instructions between cover all but one cycle, then all of it.
  EXPECT_NEAR(added(kLatency + 11 - 2), 1, kNear);
  EXPECT_NEAR(added(kLatency + 11 - 1), 0, kNear);
}

TEST(BranchGuard, LateOnlyForBranches) {
  const gpu::GpuConfig without = simple_gpu();
  gpu::GpuConfig with = without;
  with.sm.branch_guard_latency = 11;
  const std::string predicated = "setp.eq.u32 %p5, %r10, 3;\n@%p5 xor.b32 %r20, %r20, %r1;\n";
  EXPECT_NEAR(round(with, predicated) - round(without, predicated), 11, kNear);  // those of the loop's own branch
}

TEST(TakenBranch, CostsMoreThanOneThatIsNot) {
  const gpu::GpuConfig without = simple_gpu();
  gpu::GpuConfig with = without;
  with.sm.taken_branch_latency = kLatency + 6;
  const auto added = [&](const std::string& body) { return round(with, body) - round(without, body); };
  EXPECT_NEAR(added(""), 6, kNear);
  EXPECT_NEAR(added(skip("%p4")), 6, kNear);
  EXPECT_NEAR(added(skip("%p3")), 12, kNear);
}

TEST(Reconvergence, CostsWhereLanesPart) {
  const gpu::GpuConfig without = simple_gpu();
  gpu::GpuConfig with = without;
  with.sm.reconvergence_latency = 40;
  const auto added = [&](const std::string& body) { return round(with, body) - round(without, body); };
  EXPECT_NEAR(added(""), 0, kNear);
  EXPECT_NEAR(added(skip("%p4")), 0, kNear);
  EXPECT_NEAR(added(skip("%p3")), 0, kNear);
  EXPECT_NEAR(added(skip("%p2")), 40, kNear);
}

// An assembler leaves out jumps, but not all of an endless loop.
TEST(Branch, AnEndlessLoopOfJumpsTakesTime) {
  gpu::GpuConfig c = simple_gpu();
  c.assembled = true;
  const std::uint64_t limit = 10'000;
  EXPECT_GE(measure(c, kernel_text("L:\nbra.uni L;\n"), 1, 32, {0}, 1, {.cycles = limit, .instructions = {}}).cycles,
            limit);
}

}  // namespace
}  // namespace wm::sim
