// Mechanisms at their edges: dual issue, the register file's banks, asynchronous copies, an unloaded DRAM access.
#include <fmt/format.h>

#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

constexpr std::size_t kFp32 = static_cast<std::size_t>(gpu::Unit::fp32);
constexpr std::size_t kInteger = static_cast<std::size_t>(gpu::Unit::integer);

std::string loop(const std::string& body, int loops) {
  return kernel_text("mov.u32 %r10, 0;\nL:\n" + body +
                     fmt::format("add.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, {};\n@%p1 bra L;\n", loops));
}

// Cycles that 16 more rounds of the body take one warp.
std::uint64_t rounds(const gpu::GpuConfig& c, const std::string& body) {
  return measure(c, loop(body, 32), 1, 32, {0}).cycles - measure(c, loop(body, 16), 1, 32, {0}).cycles;
}

gpu::GpuConfig issuing(std::uint32_t width) {
  gpu::GpuConfig c = test_gpu("qos16");
  c.sm.count = 1;
  c.sm.issue_width = width;
  c.sm.units[kFp32] = {.latency = 4, .lanes = 32, .per_sm = false};
  c.sm.units[kInteger] = {.latency = 4, .lanes = 32, .per_sm = false};
  return c;
}

TEST(DualIssue, TwoIndependentInstructionsOfAWarpGoInOneCycle) {
  std::string body;
  for (int i = 0; i < 40; ++i)
    body += fmt::format("fma.rn.f32 %f{0}, %f1, %f1, %f{0};\nxor.b32 %r{0}, %r{0}, %r1;\n", 20 + i % 20);
  const std::uint64_t one = rounds(issuing(1), body);
  const std::uint64_t two = rounds(issuing(2), body);
  EXPECT_GE(one, 16U * 80);
  EXPECT_NEAR(static_cast<double>(one - two), 16.0 * 40, 16.0 * 4);
}

TEST(DualIssue, DependentInstructionsDoNot) {
  std::string body;
  for (int i = 0; i < 40; ++i) body += "fma.rn.f32 %f20, %f20, %f1, %f2;\n";
  EXPECT_NEAR(static_cast<double>(rounds(issuing(1), body)), static_cast<double>(rounds(issuing(2), body)), 16.0 * 4);
}

TEST(RegisterBanks, OperandsOfOneBankAreReadOneAfterTheOther) {
  const auto busy = [](std::uint32_t banks, const std::string& fma) {
    gpu::GpuConfig c = issuing(1);
    c.sm.register_banks = banks;
    std::string body;
    for (int i = 0; i < 10; ++i) body += fma;
    const Measured few = measure(c, loop(body, 16), 1, 32, {0});
    const Measured many = measure(c, loop(body, 32), 1, 32, {0});
    return many.totals.sm.unit_cycles[kFp32] - few.totals.sm.unit_cycles[kFp32];
  };
  const std::string three = "fma.rn.f32 %f20, %f1, %f2, %f3;\n";
  const std::string one = "fma.rn.f32 %f20, %f1, %f1, %f1;\n";
  EXPECT_EQ(busy(0, three), 160U);
  EXPECT_EQ(busy(1, three), 480U);
  EXPECT_EQ(busy(1, one), 160U);
}

TEST(AsynchronousCopy, WaitingForItTakesItsTime) {
  gpu::GpuConfig c = test_gpu("qos16");
  c.sm.count = 1;
  // Sixteen lines that no cache holds, one after the other.
  const auto text = [](const std::string& wait) {
    std::string t = loop("cp.async.ca.shared.global [%r20], [%rd1], 16;\ncp.async.commit_group;\n" + wait +
                             "add.s64 %rd1, %rd1, 16384;\n",
                         16);
    t.replace(t.find(".reg .pred"), 0, ".shared .align 16 .b8 s[64];\n");
    t.replace(t.find("mov.u32 %r10, 0;"), 0, "mov.u32 %r20, s;\n");
    return t.replace(t.find("sm_75"), 5, "sm_80");
  };
  const std::vector<std::uint64_t> data(17 * 16384 / 8);
  const std::uint64_t waiting = measure(c, text("cp.async.wait_all;\n"), 1, 1, data).cycles;
  const std::uint64_t not_waiting = measure(c, text(""), 1, 1, data).cycles;
  EXPECT_GT(waiting, 16U * c.l2.latency);
  EXPECT_LT(not_waiting, waiting / 3);
}

// Cycles one warp waits for memory in a kernel of copies, each of a line of its own from DRAM.
std::uint64_t waited(const std::string& body) {
  gpu::GpuConfig c = test_gpu("qos16");
  c.sm.count = 1;
  std::string t = kernel_text("mov.u32 %r20, s;\n" + body);
  t.replace(t.find(".reg .pred"), 0, ".shared .align 16 .b8 s[64];\n");
  t.replace(t.find("sm_75"), 5, "sm_80");
  const Measured m = measure(c, t, 1, 1, std::vector<std::uint64_t>(std::size_t{8} * 16384 / 8));
  return m.totals.sm.stalls[static_cast<std::size_t>(Stall::memory)];
}
std::string copy(int line) {
  return fmt::format("cp.async.ca.shared.global [%r20], [%rd1+{}], 16;\ncp.async.commit_group;\n", line * 16384);
}
std::string chain(int length) {
  std::string text;
  for (int i = 0; i < length; ++i) text += "fma.rn.f32 %f20, %f20, %f1, %f2;\n";
  return text;
}

TEST(AsynchronousCopy, WaitGroupLeavesTheYoungestOnTheirWay) {
  const gpu::GpuConfig c = test_gpu("qos16");
  const std::uint32_t step = c.sm.units[kFp32].latency;
  const int covers = static_cast<int>(2 * c.dram.latency / step);
  // The chain outlasts the first copy; the second is waited for to the cycle, or not at all.
  const std::string two = copy(0) + chain(covers) + copy(1);
  const std::uint64_t full_wait = waited(two + chain(1) + "cp.async.wait_group 0;\n");
  EXPECT_GT(full_wait, c.l2.latency);
  EXPECT_EQ(waited(two + chain(11) + "cp.async.wait_group 0;\n"), full_wait - std::uint64_t{10} * step);
  EXPECT_EQ(waited(two + chain(11) + "cp.async.wait_all;\n"), full_wait - std::uint64_t{10} * step);
  EXPECT_EQ(waited(two + chain(1) + "cp.async.wait_group 1;\n"), 0U);
  EXPECT_EQ(waited(two + chain(1) + "cp.async.wait_group 2;\n"), 0U);
  // An empty group counts: the second copy is now the second youngest.
  EXPECT_GT(waited(two + "cp.async.commit_group;\ncp.async.wait_group 0;\n"), c.l2.latency);
  EXPECT_EQ(waited(two + "cp.async.commit_group;\ncp.async.wait_group 2;\n"), 0U);
  EXPECT_GT(waited(two + "cp.async.commit_group;\ncp.async.commit_group;\ncp.async.wait_group 2;\n"), c.l2.latency);
}

TEST(AsynchronousCopy, WaitGroupWaitsForNoOtherLoads) {
  const gpu::GpuConfig c = test_gpu("qos16");
  const int covers = static_cast<int>(2 * c.dram.latency / c.sm.units[kFp32].latency);
  EXPECT_EQ(waited(copy(0) + chain(covers) + "ld.global.u32 %r30, [%rd1+65536];\ncp.async.wait_group 0;\n" +
                   chain(covers) + "st.global.u32 [%rd1+8], %r30;"),
            0U);
}

TEST(DramLatency, OfALoadThatOpensARowIsAsConfigured) {
  for (const char* name : {"qos16", "slicer16", "v100"}) {
    gpu::GpuConfig c = test_gpu(name);
    c.dram.tRP = 0;  // a row that is still open costs nothing more
    c.dram.tRC = c.dram.tRAS;
    const std::uint64_t stride = std::uint64_t{1} << 20;
    std::vector<std::uint64_t> ring(33 * stride / 8);
    for (std::uint64_t i = 0; i < 32; ++i) ring[i * stride / 8] = (i + 1) * stride;
    const auto text = [](int loops) {
      std::string body = "mov.u64 %rd2, 0;\nmov.u32 %r10, 0;\nL:\n";
      for (int i = 0; i < 16; ++i) body += "add.s64 %rd3, %rd1, %rd2;\nld.global.u64 %rd2, [%rd3];\n";
      body += fmt::format("add.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, {};\n@%p1 bra L;\n", loops);
      return kernel_text(body + "st.global.u64 [%rd1], %rd2;");
    };
    const auto once = measure(c, text(1), 1, 1, ring).cycles;
    const auto twice = measure(c, text(2), 1, 1, ring).cycles;
    const double step = static_cast<double>(twice - once) / 16;
    EXPECT_NEAR(step, c.dram.latency + c.sm.units[kInteger].latency, 4.0) << name;
  }
}

}  // namespace
}  // namespace wm::sim
