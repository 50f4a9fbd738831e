// Instructions of shared-memory atomics that an assembler makes loops of.
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

// Issued instructions of one warp. %r10 is the address that `lanes` lanes share; the others have words of their own.
std::uint64_t issued(const gpu::GpuConfig& config, std::uint32_t lanes, const std::string& atomic) {
  const std::string text = ".shared .align 8 .b8 s[512];\nmov.u32 %r11, s;\nmax.u32 %r12, %r1, " +
                           std::to_string(lanes - 1) + ";\nshl.b32 %r13, %r12, 3;\nadd.s32 %r10, %r11, %r13;\n" +
                           "cvt.rn.f32.u32 %f1, %r1;\ncvt.u64.u32 %rd5, %r1;\n" + atomic +
                           "bar.sync 0;\nld.shared.u32 %r14, [%r10];\nst.global.u32 [%rd1], %r14;\n";
  return measure(config, kernel_text(text), 1, 32, {0}).totals.sm.issued;
}

TEST(SharedAtomicLoop, ATurnForEveryLaneOnOneWord) {
  const gpu::GpuConfig h200 = test_gpu("h200");
  const std::string sum = "red.shared.add.f32 [%r10], %f1;\n";
  const std::uint64_t apart = issued(h200, 1, sum);
  EXPECT_EQ(issued(h200, 2, sum), apart + 5);
  EXPECT_EQ(issued(h200, 32, sum), apart + 5 * 31) << "load, sum, compare-and-swap, comparison, branch";
  const std::string wide = "red.shared.add.u64 [%r10], %rd5;\n";
  EXPECT_EQ(issued(h200, 32, wide), issued(h200, 1, wide) + 7 * 31);
}

TEST(SharedAtomicLoop, IntegersOfOneWordAreOneInstruction) {
  const gpu::GpuConfig h200 = test_gpu("h200");
  const std::string sum = "red.shared.add.u32 [%r10], %r1;\n";
  EXPECT_EQ(issued(h200, 32, sum), issued(h200, 1, sum));
  EXPECT_EQ(issued(h200, 1, "red.shared.add.f32 [%r10], %f1;\n"), issued(h200, 1, sum) + 6)
      << "one turn, and the lanes are split and joined";
}

TEST(SharedAtomicLoop, MachinesThatIssuePtxHaveNone) {
  const gpu::GpuConfig qos16 = test_gpu("qos16");
  const std::string sum = "red.shared.add.f32 [%r10], %f1;\n";
  EXPECT_EQ(issued(qos16, 32, sum), issued(qos16, 1, sum));
}

}  // namespace
}  // namespace wm::sim
