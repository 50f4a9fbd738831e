// A greedy scheduler that runs ahead with its warp: nothing about the SM may look different afterwards. A quota that
// is never spent keeps it from running ahead.
#include <fmt/format.h>

#include "base/random.h"
#include "exec/image.h"
#include "sim/cycle/bench_kernel.h"
#include "sim/cycle/memory/timing.h"
#include "sim/cycle/sm/sm.h"

namespace wm::sim {
namespace {

// Arithmetic of several units, shared memory and barriers in a random order, a loop of it.
std::string mixture(std::uint64_t seed) {
  Random random(seed);
  std::string body =
      ".shared .align 4 .b8 tile[512];\nmov.u64 %rd10, tile;\nmul.wide.u32 %rd11, %r4, 4;\n"
      "add.s64 %rd12, %rd10, %rd11;\nmov.u32 %r10, 0;\nL:\n";
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t a = 20 + random.below(12), b = 20 + random.below(12);
    switch (random.below(12)) {
      case 0:
        body += "bar.sync 0;\n";
        break;
      case 1:
        body += fmt::format("ld.shared.f32 %f{}, [%rd12];\n", a);
        break;
      case 2:
        body += fmt::format("xor.b32 %r{}, %r{}, %r1;\n", a, b);
        break;
      case 3:
        body += fmt::format("rcp.approx.f32 %f{}, %f{};\n", a, b);
        break;
      default:
        body += fmt::format("fma.rn.f32 %f{}, %f{}, %f1, %f2;\n", a, b);
        break;
    }
  }
  return kernel_text(body + "add.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 6;\n@%p1 bra L;\n");
}

struct Seen {
  SmCounters counters;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ended;  // block, when
};

// `blocks` blocks of 128 threads on one SM, two at once, the others as they end.
Seen run(const gpu::GpuConfig& config, const std::string& text, std::uint64_t blocks, bool held_back) {
  auto module = ptx::parse(text, "k.ptx");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  exec::AddressSpace memory;
  const std::uint64_t buffers[] = {*memory.allocate(64, "data")};
  auto image = exec::Image::load(*module, memory);
  auto program = exec::decode(*module, "k", "k.ptx");
  EXPECT_TRUE(program.ok()) << program.error().to_string();
  const gpu::Launch launch{"k", {static_cast<std::uint32_t>(blocks)}, {128}, {gpu::buffer({0})}, 0};
  auto grid = exec::make_grid(*program, *image->link(**program), memory, launch, buffers);
  EXPECT_TRUE(grid.ok()) << grid.error().to_string();
  const TimedProgram timed = time_program(*program, config);
  sim::Sm sm(config, *derive_timing(config), 0);
  if (held_back) sm.set_quota(0, std::int64_t{1} << 60, 0);
  for (std::uint64_t number = 0; number < 2; ++number) {
    auto block = std::make_unique<BlockRun>();
    block->kernel = {.program = &timed, .grid = &*grid, .client = 0, .kernel_index = 0};
    block->number = number;
    sm.start(std::move(block), number);
  }
  for (std::uint64_t number = 2; number < blocks; ++number) sm.offer({0, number});
  for (std::uint64_t now = 0; now < 40'000; now += 100) sm.run(now, now + 100);
  sm.charge_until(40'000);
  Seen seen{sm.counters(0), {}};
  for (const FinishedBlock& e : sm.finished()) seen.ended.emplace_back(e.number, e.at);
  return seen;
}

TEST(GreedyWarp, RunsAheadUnseen) {
  for (const char* name : {"v100", "qos16", "h200"})
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const std::string text = mixture(seed);
      const Seen ahead = run(test_gpu(name), text, 6, false);
      const Seen held = run(test_gpu(name), text, 6, true);
      ASSERT_EQ(held.ended.size(), 6U);
      EXPECT_EQ(ahead.ended, held.ended) << name << seed;
      EXPECT_EQ(ahead.counters.stalls, held.counters.stalls) << name << seed;
      EXPECT_EQ(ahead.counters.issued, held.counters.issued);
      EXPECT_EQ(ahead.counters.unit_cycles, held.counters.unit_cycles);
      EXPECT_EQ(ahead.counters.thread_instructions, held.counters.thread_instructions);
    }
}

}  // namespace
}  // namespace wm::sim
