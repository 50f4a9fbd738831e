// Scoreboards hold times in 32 bits, counted from an epoch that follows the clock: late in a long run an SM does what
// it does at its beginning, also when an epoch begins while registers are on their way.
#include <fmt/format.h>

#include "exec/image.h"
#include "sim/cycle/bench_kernel.h"
#include "sim/cycle/memory/timing.h"
#include "sim/cycle/sm/sm.h"

namespace wm::sim {
namespace {

constexpr std::uint64_t kQuantum = 100;
constexpr std::uint64_t kWaits = 1'000;    // by then every warp waits for its load
constexpr std::uint64_t kLength = 20'000;  // cycles after the loads came

// Two loads, then arithmetic in chains of several latencies, a loop of it: registers are never all there.
std::string chains() {
  std::string body =
      "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f20, [%rd3];\n"
      "ld.global.f32 %f19, [%rd3+1024];\nadd.f32 %f20, %f20, %f19;\nmov.u32 %r10, 0;\nL:\n";
  for (int i = 20; i < 30; ++i) {
    body += fmt::format("rcp.approx.f32 %f{}, %f{};\nfma.rn.f32 %f{}, %f{}, %f20, %f{};\n", i + 1, i, i + 20, i, i + 1);
    body += fmt::format("xor.b32 %r{}, %r10, %r1;\n", i);
  }
  return kernel_text(body +
                     "add.f32 %f20, %f30, %f49;\nadd.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 20;\n@%p1 bra L;\n");
}

struct AtTheEnd {
  SmCounters counters;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ended;  // block, cycles after the loads came
};

// Two blocks that begin at 0 and wait for loads, which come at `later`; of each warp the second after the first.
AtTheEnd run(const gpu::GpuConfig& config, std::uint64_t later) {
  auto module = ptx::parse(chains(), "k.ptx");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  exec::AddressSpace memory;
  const std::uint64_t buffers[] = {*memory.allocate(2048, "data")};
  auto image = exec::Image::load(*module, memory);
  auto program = exec::decode(*module, "k", "k.ptx");
  EXPECT_TRUE(program.ok()) << program.error().to_string();
  auto grid =
      exec::make_grid(*program, *image->link(**program), memory, {"k", {2}, {128}, {gpu::buffer({0})}, 0}, buffers);
  EXPECT_TRUE(grid.ok()) << grid.error().to_string();
  const TimedProgram timed = time_program(*program, config);
  sim::Sm sm(config, *derive_timing(config), 0);
  for (std::uint64_t number = 0; number < 2; ++number) {
    auto block = std::make_unique<BlockRun>();
    block->kernel = {.program = &timed, .grid = &*grid, .client = 0, .kernel_index = 0};
    block->number = number;
    sm.start(std::move(block), 0);
  }
  std::vector<Message> replies;
  for (std::uint64_t now = 0; now < kWaits; now += kQuantum) {
    sm.run(now, now + kQuantum);
    replies.insert(replies.end(), sm.outbox().begin(), sm.outbox().end());
    sm.outbox().clear();
  }
  EXPECT_FALSE(replies.empty());
  LineAddress first = replies.front().line;
  for (const Message& m : replies) first = std::min(first, m.line);
  for (Message& m : replies) {
    m.time = later + (m.line < first + 1024 / kLineBytes ? 10 : 510);
    sm.receive(m);
  }
  for (std::uint64_t now = later; now < later + kLength; now += kQuantum) sm.run(now, now + kQuantum);
  sm.charge_until(later + kLength);
  AtTheEnd seen{sm.counters(0), {}};
  for (const FinishedBlock& e : sm.finished()) seen.ended.emplace_back(e.number, e.at - later);
  return seen;
}

TEST(Epoch, ChangesNothingThatASmDoes) {
  constexpr std::uint64_t kEpoch = std::uint64_t{1} << 31;
  for (const char* name : {"v100", "qos16"}) {
    const gpu::GpuConfig config = test_gpu(name);
    const AtTheEnd early = run(config, kWaits);
    ASSERT_EQ(early.ended.size(), 2U);
    EXPECT_GT(early.ended[0].second, 3'000U);  // some quanta lie behind the epoch's beginning below
    // An epoch begins while the blocks run; the clock passes 32 bits; so does a clock that was in its second epoch.
    for (const std::uint64_t later : {kEpoch - 1'500, 2 * kEpoch - 1'500, 3 * kEpoch - 1'500, 5 * kEpoch - 1'500}) {
      const AtTheEnd late = run(config, later / 4 * 4);  // schedulers take turns by the clock
      EXPECT_EQ(late.ended, early.ended) << name << " " << later;
      EXPECT_EQ(late.counters.issued, early.counters.issued);
      EXPECT_EQ(late.counters.unit_cycles, early.counters.unit_cycles);
      for (const Stall why : {Stall::unit, Stall::dependency, Stall::fetch, Stall::barrier})
        EXPECT_EQ(late.counters.stalls[static_cast<std::size_t>(why)],
                  early.counters.stalls[static_cast<std::size_t>(why)])
            << name << " " << later << " " << static_cast<int>(why);
    }
  }
}

}  // namespace
}  // namespace wm::sim
