// The results the machine must come to where the answer is known without simulating: rates, latencies, Little's law.
#include <fmt/format.h>

#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

// A chain of loads, each giving the address of the next: `steps` of them over a ring of `lines` lines `stride` apart.
struct Chase {
  std::vector<std::uint64_t> ring;
  std::string text;
};
Chase chase(std::uint64_t lines, std::uint64_t stride, std::uint32_t loops, const std::string& load = "ld.global.u64") {
  Chase c;
  c.ring.assign(lines * stride / 8, 0);
  for (std::uint64_t i = 0; i < lines; ++i) c.ring[i * stride / 8] = (i + 1) % lines * stride;
  std::string body = "mov.u32 %r10, 0;\nmov.u64 %rd2, 0;\nL:\n";
  for (int i = 0; i < 16; ++i) body += "add.s64 %rd3, %rd1, %rd2;\n" + load + " %rd2, [%rd3];\n";
  body += fmt::format("add.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, {};\n@%p1 bra L;\n", loops);
  body += "st.global.u64 [%rd1], %rd2;";
  c.text = kernel_text(body);
  return c;
}

// Cycles of one load in the chain: the slope between a short and a long run, both long enough to be warm.
double latency(const gpu::GpuConfig& config, std::uint64_t lines, std::uint64_t stride, std::uint32_t loops,
               const std::string& load = "ld.global.u64") {
  const Chase once = chase(lines, stride, loops, load);
  const Chase twice = chase(lines, stride, 2 * loops, load);
  const auto a = measure(config, once.text, 1, 1, once.ring).cycles;
  const auto b = measure(config, twice.text, 1, 1, twice.ring).cycles;
  return static_cast<double>(b - a) / (16.0 * loops);
}

// The add between two loads, which the address needs.
double add_latency(const gpu::GpuConfig& c) { return c.sm.units[static_cast<std::size_t>(gpu::Unit::integer)].latency; }

class Latency : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Gpus, Latency, ::testing::Values("qos16", "slicer16", "v100", "h200"));

TEST_P(Latency, OfAnL1HitIsAsConfigured) {
  const gpu::GpuConfig c = test_gpu(GetParam());
  if (!c.l1.caches_global) return;
  EXPECT_NEAR(latency(c, 8, 128, 64), c.l1.latency + add_latency(c), 1.0);
}

TEST_P(Latency, OfAnL2HitIsAsConfigured) {
  const gpu::GpuConfig c = test_gpu(GetParam());
  const std::uint64_t lines = 2 * c.l1.bytes / 128;
  EXPECT_NEAR(latency(c, lines, 128, static_cast<std::uint32_t>(lines / 16)), c.l2.latency + add_latency(c), 3.0);
}

TEST(TexturePath, AReadOnlyHitTakesItsCachesLatencyAndAMissTheWayToL2) {
  for (const char* name : {"k20c", "smqos24"}) {
    gpu::GpuConfig c = test_gpu(name);
    c.noc.hop_latency = 0;
    c.texture.latency = c.l1.latency + 7;
    EXPECT_NEAR(latency(c, 8, 128, 64, "ld.global.nc.u64"), c.texture.latency + add_latency(c), 1.0) << name;
    const double plain = c.l1.caches_global ? c.l1.latency : c.l2.latency;
    EXPECT_NEAR(latency(c, 8, 128, 64), plain + add_latency(c), 3.0) << name;
    const std::uint64_t lines = 2 * c.texture.bytes / 128;
    const Measured cold =
        measure(c, chase(lines, 128, 4, "ld.global.nc.u64").text, 1, 1, chase(lines, 128, 4, "ld.global.nc.u64").ring);
    EXPECT_EQ(cold.totals.sm.texture_sectors, 64U) << name;
    EXPECT_EQ(cold.totals.sm.texture_misses, 64U) << name;
    EXPECT_EQ(cold.totals.sm.l1_sectors, 0U) << name;
  }
}

// Fermi has no read-only path for ordinary loads: only a texture fetch takes the texture cache.
TEST(TexturePath, BeforeKeplerIsTakenByTextureFetchesOnly) {
  const gpu::GpuConfig c = test_gpu("slicer16");
  ASSERT_NE(c.texture.bytes, 0U);
  const auto loads = chase(8, 128, 4, "ld.global.nc.u64");
  const Measured plain = measure(c, loads.text, 1, 1, loads.ring);
  EXPECT_EQ(plain.totals.sm.texture_sectors, 0U);
  EXPECT_NE(plain.totals.sm.l1_sectors, 0U);
}

TEST(Rate, Fp32PeakIsReachedWithinOnePercent) {
  for (const char* name : {"qos16", "v100"}) {
    gpu::GpuConfig c = test_gpu(name);
    c.sm.count = 4;
    const auto run = [&](int loops) {
      std::string body = "cvt.rn.f32.u32 %f1, %r1;\nmov.u32 %r10, 0;\nL:\n";
      for (int i = 0; i < 600; ++i) body += fmt::format("fma.rn.f32 %f{}, %f1, %f1, %f{};\n", 10 + i % 20, 10 + i % 20);
      body += fmt::format("add.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, {};\n@%p1 bra L;\n", loops);
      return measure(c, kernel_text(body), c.sm.count * c.sm.threads / 256, 256, {0});
    };
    const Measured few = run(8);
    const Measured many = run(24);
    const auto lanes = [](const Measured& m) {
      return static_cast<double>(m.totals.sm.unit_lanes[static_cast<std::size_t>(gpu::Unit::fp32)]);
    };
    const double rate = (lanes(many) - lanes(few)) / static_cast<double>(many.cycles - few.cycles);
    const double peak = static_cast<double>(c.sm.count) * c.sm.schedulers * c.sm.units[0].lanes;
    EXPECT_GT(rate, 0.99 * peak) << name;
    EXPECT_LE(rate, 1.001 * peak) << name;
  }
}

std::string stream_text() {
  // Each thread reads 64 bytes, a warp's accesses side by side.
  std::string body = "mul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd3, %rd1, %rd2;\n";
  for (int i = 0; i < 4; ++i)
    body += fmt::format("ld.global.v4.f32 {{%f{},%f{},%f{},%f{}}}, [%rd3+{}];\n", 4 * i, 4 * i + 1, 4 * i + 2,
                        4 * i + 3, i * 8388608);
  body += "add.f32 %f1, %f1, %f5;\nadd.f32 %f9, %f9, %f13;\nadd.f32 %f1, %f1, %f9;\nst.global.f32 [%rd3], %f1;";
  return kernel_text(body);
}

TEST(Rate, DramBandwidthComesNearThePins) {
  const gpu::GpuConfig c = test_gpu("qos16");
  const Measured m = measure(c, stream_text(), 2048, 256, std::vector<std::uint64_t>(4 * 8388608 / 8));
  const double bytes =
      32.0 * static_cast<double>(m.totals.memory.dram_read_sectors + m.totals.memory.dram_write_sectors);
  const double pins = c.dram.peak_bytes_per_second() / (c.sm.clock_mhz * 1e6);
  EXPECT_GT(bytes / static_cast<double>(m.cycles), 0.75 * pins);
  EXPECT_LE(bytes / static_cast<double>(m.cycles), pins);
}

TEST(LittlesLaw, MshrsOverLatencyBoundTheMissesOfAnSm) {
  gpu::GpuConfig c = test_gpu("qos16");
  c.sm.count = 1;
  c.l1.mshrs = 16;
  // Lines that hit L2 and miss L1: two rounds over more than L1 holds, the second measured by the slope.
  const auto text = [](int rounds) {
    std::string body = "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r10, 0;\nL:\n";
    for (int i = 0; i < 4; ++i) body += fmt::format("ld.global.f32 %f{}, [%rd3+{}];\n", i, i * 131072);
    body += fmt::format("add.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, {};\n@%p1 bra L;\nst.global.f32 [%rd3], %f0;",
                        rounds);
    return kernel_text(body);
  };
  const std::vector<std::uint64_t> data(4 * 131072 / 8);
  const Measured a = measure(c, text(4), 4, 256, data);
  const Measured b = measure(c, text(8), 4, 256, data);
  const double misses = static_cast<double>(b.totals.sm.requests - a.totals.sm.requests);
  const double in_flight = misses * c.l2.latency / static_cast<double>(b.cycles - a.cycles);
  EXPECT_GT(in_flight, 0.8 * 16);
  EXPECT_LE(in_flight, 1.05 * 16);
}

TEST(Stalls, AChainOfLoadsWaitsForMemory) {
  const gpu::GpuConfig c = test_gpu("qos16");
  const Chase far = chase(4096, 128, 256);
  const Measured m = measure(c, far.text, 1, 1, far.ring);
  const auto cycles = [&](Stall why) { return static_cast<double>(m.totals.sm.stalls[static_cast<std::size_t>(why)]); };
  EXPECT_GT(cycles(Stall::memory), 0.9 * static_cast<double>(m.cycles));
  EXPECT_LT(cycles(Stall::dependency), 0.1 * static_cast<double>(m.cycles));
}

TEST(Conservation, EveryBlockEndsAndEveryRequestIsAnswered) {
  const gpu::GpuConfig c = test_gpu("qos16");
  const Measured m = measure(c, stream_text(), 512, 256, std::vector<std::uint64_t>(4 * 8388608 / 8));
  EXPECT_EQ(m.totals.blocks, 512U);
  EXPECT_EQ(m.totals.sm.blocks_done, 512U);
  EXPECT_EQ(m.totals.sm.l1_misses, m.totals.memory.l2_sectors - 512U * 8 * 16) << "stores are the other L2 sectors";
}

TEST(Threads, AnyNumberOfHostThreadsGivesTheSameRun) {
  const gpu::GpuConfig c = test_gpu("qos16");
  const std::vector<std::uint64_t> data(4 * 8388608 / 8);
  const Measured one = measure(c, stream_text(), 512, 256, data, 1);
  for (const std::uint32_t threads : {2U, 3U, 7U}) {
    const Measured many = measure(c, stream_text(), 512, 256, data, threads);
    EXPECT_EQ(many.cycles, one.cycles) << threads;
    EXPECT_EQ(many.totals.sm.stalls, one.totals.sm.stalls) << threads;
    EXPECT_EQ(many.totals.memory.dram_read_sectors, one.totals.memory.dram_read_sectors) << threads;
  }
}

}  // namespace
}  // namespace wm::sim
