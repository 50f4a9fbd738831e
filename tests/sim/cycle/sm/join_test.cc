// Lanes that wait at a join while the warp's other lanes wait at a barrier go on once every warp of the block waits,
// whichever instruction was the last one to issue.
#include <fmt/format.h>

#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

// Lanes 0 to 8 of the second warp wait at a barrier, the others take `other` to the join, in this order or the other.
std::string divided(const std::string& other, bool barrier_first) {
  const std::string to_barrier = "bar.sync 0;\nmov.u32 %r10, 5;\n";
  const std::string test = barrier_first ? "setp.gt.u32 %p1, %r4, 40;\n" : "setp.le.u32 %p1, %r4, 40;\n";
  return kernel_text("mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" + test + "@%p1 bra OTHER;\n" +
                     (barrier_first ? to_barrier : other) + "bra JOIN;\nOTHER:\n" +
                     (barrier_first ? other : to_barrier) + "JOIN:\nst.global.u32 [%rd3], %r10;\n");
}

TEST(Join, LanesGoOnWhenEveryWarpWaits) {
  const std::string load = "ld.global.u32 %r10, [%rd3];\nadd.u32 %r10, %r10, 99;\n";
  const std::string atomic = "atom.global.add.u32 %r10, [%rd3], 1;\n";
  std::string arithmetic;
  for (int i = 0; i < 40; ++i) arithmetic += "mad.lo.u32 %r10, %r1, 3, %r10;\n";
  for (const char* gpu : {"h200", "v100", "qos16", "k20c", "slicer16"})
    for (const std::string& other : {load, atomic, arithmetic, load + arithmetic, "mov.u32 %r10, 7;\n" + load})
      for (const bool barrier_first : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", gpu, barrier_first, other));
        const Measured m = measure(test_gpu(gpu), divided(other, barrier_first), 3, 64, std::vector<std::uint64_t>(96),
                                   1, {.cycles = 100'000, .instructions = {}});
        EXPECT_EQ(m.totals.blocks, 3U);
      }
}

// A loop in which the last warp that arrives waits at the join each time.
TEST(Join, LanesGoOnInEveryRoundOfALoop) {
  const std::string round =
      "mov.u32 %r11, 0;\nROUND:\nsetp.gt.u32 %p1, %r4, 40;\n@%p1 bra OTHER;\nbar.sync 0;\nbra JOIN;\nOTHER:\n"
      "ld.global.u32 %r10, [%rd1];\nadd.u32 %r10, %r10, %r11;\nJOIN:\nadd.u32 %r11, %r11, 1;\n"
      "setp.lt.u32 %p2, %r11, 20;\n@%p2 bra ROUND;\n";
  for (const char* gpu : {"h200", "qos16"})
    EXPECT_EQ(measure(test_gpu(gpu), kernel_text(round), 2, 64, {0}, 1, {.cycles = 200'000, .instructions = {}})
                  .totals.blocks,
              2U)
        << gpu;
}

}  // namespace
}  // namespace wm::sim
