// The interface of a simulator: blocks stepped warp by warp, in any order, several kernels and clients at once.
#include <bit>

#include "base/random.h"
#include "exec/block.h"
#include "exec/loaded_kernel.h"

namespace wm::exec {
namespace {

// Each thread adds up what the threads of its block left in shared memory, round by round, with divergence in between.
const std::string kRounds = kernel(R"(
    .shared .align 4 .b32 tile[128];
    mov.u32 %r0, %ctaid.x;
    shl.b32 %r1, %thread, 2;
    mov.u32 %r2, tile;
    add.u32 %r3, %r2, %r1;
    mov.u32 %r4, 0;
    mov.u32 %r5, %thread;
  ROUND:
    st.shared.u32 [%r3], %r5;
    bar.sync 0;
    xor.b32 %r6, %r1, 508;
    add.u32 %r6, %r6, %r2;
    ld.shared.u32 %r7, [%r6];
    and.b32 %r8, %r7, 1;
    setp.eq.u32 %p0, %r8, 0;
    @%p0 bra EVEN;
    mad.lo.u32 %r5, %r7, 3, 1;
    bra NEXT;
  EVEN:
    shr.u32 %r5, %r7, 1;
    add.u32 %r5, %r5, %r0;
  NEXT:
    shfl.sync.bfly.b32 %r9, %r5, 8, 31, -1;
    add.u32 %r5, %r5, %r9;
    bar.sync 0;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 20;
    @%p1 bra ROUND;
    mad.lo.u32 %r0, %r0, 128, %thread;
    mul.wide.u32 %d0, %r0, 4;
    add.u64 %d0, %d0, %out;
    st.global.u32 [%d0], %r5;
    ret;)");

std::vector<std::uint32_t> in_order() {
  LoadedKernel client(kRounds, 512);
  const Grid grid = client.grid({4, 1, 1}, {128, 1, 1});
  const LaunchResult result = run_launch(grid);
  EXPECT_FALSE(result.fault.has_value());
  return client.out();
}

TEST(Step, AnyOrderOfWarpsAndBlocksGivesTheSameResult) {
  const auto expected = in_order();
  EXPECT_NE(expected, std::vector<std::uint32_t>(512, 0));
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    LoadedKernel client(kRounds, 512);
    const Grid grid = client.grid({4, 1, 1}, {128, 1, 1});
    std::vector<std::unique_ptr<Block>> blocks;
    for (std::uint32_t b = 0; b < 4; ++b) {
      blocks.push_back(std::make_unique<Block>());
      blocks.back()->start(grid, grid.block_index(b), {b, 4});
    }
    Random random(seed);
    std::uint64_t steps = 0;
    for (bool running = true; running;) {
      running = false;
      for (const auto& block : blocks) running = running || !block->done();
      Block& block = *blocks[random.below(4)];
      const std::uint32_t warp = random.below(block.warps());
      if (block.done() || !block.warp(warp).ready()) continue;
      Step step;
      block.step(warp, step);
      ++steps;
      ASSERT_FALSE(block.fault().has_value()) << block.fault()->to_string();
    }
    EXPECT_EQ(client.out(), expected) << "seed " << seed;
    std::uint64_t counted = 0;
    for (const auto& block : blocks) counted += block->statistics().warp_instructions;
    EXPECT_EQ(counted, steps);
  }
}

TEST(Step, StepsAndARunCountTheSame) {
  LoadedKernel one(kRounds, 512), two(kRounds, 512);
  const Grid grid = one.grid({1, 1, 1}, {128, 1, 1});
  const LaunchResult ran = run_launch(grid);
  const Grid again = two.grid({1, 1, 1}, {128, 1, 1});
  Block block;
  block.start(again, {0, 0, 0});
  Step step;
  while (!block.done())
    for (std::uint32_t w = 0; w < block.warps(); ++w)
      if (block.warp(w).ready()) block.step(w, step);
  EXPECT_EQ(block.statistics().warp_instructions, ran.statistics.warp_instructions);
  EXPECT_EQ(block.statistics().thread_instructions, ran.statistics.thread_instructions);
  EXPECT_EQ(block.statistics().by_class, ran.statistics.by_class);
}

// The operations that a warp executed, with the number of lanes of each.
using Trace = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

TEST(RunAhead, ExecutesWhatStepsWouldAndStopsBeforeMemory) {
  for (const std::uint32_t max_operations : {1U, 3U, 31U}) {
    LoadedKernel one(kRounds, 512), two(kRounds, 512);
    const Grid grid = one.grid({1, 1, 1}, {128, 1, 1});
    const Grid again = two.grid({1, 1, 1}, {128, 1, 1});
    Block steps, ahead;
    steps.start(grid, {0, 0, 0});
    ahead.start(again, {0, 0, 0});
    std::array<Trace, 4> expected, got;
    Step step;
    while (!steps.done())
      for (std::uint32_t w = 0; w < 4; ++w)
        if (steps.warp(w).ready()) {
          steps.step(w, step);
          expected[w].emplace_back(step.pc, static_cast<std::uint32_t>(std::popcount(step.active)));
        }
    std::vector<Executed> list(max_operations);
    while (!ahead.done())
      for (std::uint32_t w = 0; w < 4; ++w) {
        const std::uint32_t count = ahead.warp(w).run_ahead(list.data(), max_operations, {});
        for (std::uint32_t i = 0; i < count; ++i) {
          const Executed e = list[i];
          got[w].emplace_back(std::uint32_t{e.pc}, std::uint32_t{e.lanes});
        }
        if (count == max_operations || !ahead.warp(w).ready()) continue;
        ahead.step(w, step);
        EXPECT_FALSE(step.op->kind == Kind::lane || step.op->kind == Kind::branch);
        got[w].emplace_back(step.pc, static_cast<std::uint32_t>(std::popcount(step.active)));
      }
    EXPECT_EQ(got, expected);
    EXPECT_EQ(one.out(), two.out());
    EXPECT_EQ(ahead.statistics().by_class, steps.statistics().by_class);
    EXPECT_EQ(ahead.statistics().thread_instructions, steps.statistics().thread_instructions);
  }
}

// The address of a load from shared memory stays known from one run to the next until its register is written: by a
// load from global memory, an exchange or an arithmetic operation.
TEST(RunAhead, LoadsFromAnAddressThatWasWrittenSinceTheLastRun) {
  LoadedKernel client(kernel(R"(
    .shared .align 4 .b32 tile[32];
    shl.b32 %r0, %lane, 2;
    mov.u32 %r2, tile;
    add.u32 %r3, %r2, %r0;
    st.shared.u32 [%r3], %lane;
    bar.sync 0;
    add.u32 %r1, %r2, %r0;
    ld.shared.u32 %r4, [%r1];
    add.u32 %r5, %r2, 20;
    st.global.u32 [%at], %r5;
    ld.global.u32 %r1, [%at];
    ld.shared.u32 %r6, [%r1];
    shfl.sync.idx.b32 %r1, %r3, 7, 31, -1;
    ld.shared.u32 %r7, [%r1];
    bar.sync 0;
    ld.shared.u32 %r8, [%r1];
    sub.u32 %r1, %r1, 4;
    ld.shared.u32 %r9, [%r1];
    mad.lo.u32 %r4, %r6, 100, %r4;
    mad.lo.u32 %r4, %r7, 1000, %r4;
    mad.lo.u32 %r4, %r8, 10000, %r4;
    mad.lo.u32 %r4, %r9, 100000, %r4;
    st.global.u32 [%at], %r4;
    ret;)"),
                      32);
  const Grid grid = client.grid({1, 1, 1}, {32, 1, 1});
  Block block;
  block.start(grid, {0, 0, 0});
  Step step;
  std::array<Executed, 16> list;
  while (!block.done() && !block.fault()) {
    const std::uint32_t count = block.warp(0).run_ahead(list.data(), 16, {});
    if (count != 16 && block.warp(0).ready()) block.step(0, step);
  }
  EXPECT_EQ(client.out(), table(32, [](auto i) { return i + 500 + 7000 + 70000 + 600000; }));
}

TEST(Step, TwoClientsInterleavedDoNotTouchEachOther) {
  LoadedKernel a(kRounds, 512), b(kernel("mov.u32 %r0, 7;\nst.global.u32 [%at], %r0;\nret;"), 512);
  const Grid ga = a.grid({1, 1, 1}, {128, 1, 1}), gb = b.grid({1, 1, 1}, {128, 1, 1});
  Block ba, bb;
  ba.start(ga, {0, 0, 0});
  bb.start(gb, {0, 0, 0});
  Step step;
  while (!ba.done() || !bb.done()) {
    for (Block* block : {&ba, &bb})
      for (std::uint32_t w = 0; w < block->warps(); ++w)
        if (block->warp(w).ready()) block->step(w, step);
  }
  const auto expected = in_order();
  EXPECT_TRUE(std::equal(expected.begin(), expected.begin() + 128, a.out().begin()));
  EXPECT_EQ(b.out(), table(512, [](auto i) { return i < 128 ? 7 : 0; }));
}

TEST(Step, TellsWhatAnInstructionDid) {
  LoadedKernel client(kernel(R"(
    mul.wide.u32 %d0, %lane, 8;
    add.u64 %d0, %d0, %out;
    setp.lt.u32 %p0, %lane, 4;
    @%p0 st.global.u32 [%d0], %lane;
    @%p0 bra END;
    bar.sync 0;
  END:
    exit;)"),
                      64);
  const Grid grid = client.grid({1, 1, 1}, {32, 1, 1});
  Block block;
  block.start(grid, {0, 0, 0});
  std::vector<Step> steps;
  std::vector<Access> accesses;
  while (!block.done()) {
    if (!block.warp(0).ready()) {
      block.unblock();
      ASSERT_FALSE(block.fault().has_value());
      continue;
    }
    const std::uint32_t next = block.warp(0).next_pc();
    Step step;
    block.step(0, step);
    EXPECT_EQ(step.pc, next);
    EXPECT_EQ(step.op, &grid.program->code[next]);
    steps.push_back(step);
    accesses.push_back(*step.access);
  }
  const auto find = [&](Kind kind) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i].op->kind == kind) return i;
    return steps.size();
  };
  const std::size_t store = find(Kind::store);
  ASSERT_LT(store, steps.size());
  EXPECT_TRUE(steps[store].memory);
  EXPECT_EQ(steps[store].path, 0xffffffffU);
  EXPECT_EQ(steps[store].active, 0xfU);
  EXPECT_EQ(accesses[store].space, ptx::Space::global);
  EXPECT_EQ(accesses[store].bytes, 4);
  EXPECT_EQ(accesses[store].address[3] - accesses[store].address[0], 24U);
  const std::size_t branch = find(Kind::branch);
  EXPECT_TRUE(steps[branch].divergent);
  EXPECT_EQ(steps[branch].active, 0xfU);
  EXPECT_FALSE(steps[branch].memory);
  const std::size_t barrier = find(Kind::barrier);
  EXPECT_TRUE(steps[barrier].at_barrier);
  EXPECT_TRUE(steps.back().exited);
}

// A block suspended in the middle continues later, on another SM, after others ran.
TEST(Step, ABlockSetAsideGoesOnLater) {
  LoadedKernel client(kRounds, 512);
  const Grid grid = client.grid({2, 1, 1}, {128, 1, 1});
  Block first, second;
  first.start(grid, {0, 0, 0});
  EXPECT_EQ(first.run(500), 500U);
  EXPECT_FALSE(first.done());
  second.start(grid, {1, 0, 0});
  second.run(1U << 30);
  EXPECT_TRUE(second.done());
  first.run(1U << 30);
  EXPECT_TRUE(first.done());
  const auto expected = in_order();
  EXPECT_TRUE(std::equal(expected.begin(), expected.begin() + 256, client.out().begin()));
}

TEST(Step, ABlockObjectIsUsedAgain) {
  LoadedKernel client(kRounds, 512);
  const Grid grid = client.grid({4, 1, 1}, {128, 1, 1});
  LoadedKernel faulty(kernel("st.global.u32 [0], 1;\nret;"), 32);
  const Grid bad = faulty.grid({1, 1, 1}, {96, 1, 1});
  Block block;
  for (std::uint32_t b = 0; b < 4; ++b) {
    block.start(bad, {0, 0, 0});
    block.run(1000);
    EXPECT_TRUE(block.fault().has_value());
    block.start(grid, grid.block_index(b));
    block.run(1U << 30);
    EXPECT_TRUE(block.done());
    EXPECT_FALSE(block.fault().has_value());
  }
  EXPECT_EQ(client.out(), in_order());
}

// The first warp has arrived at the barrier when the block is given up. The block that begins in its place must wait
// for both warps.
TEST(Step, ABlockObjectForgetsTheBarriersAndTheClockOfItsLastBlock) {
  LoadedKernel client(kernel(R"(
    .shared .b32 word;
    setp.lt.u32 %p0, %thread, 32;
    @%p0 bra WAIT;
    st.shared.u32 [word], 41;
  WAIT:
    bar.sync 0;
    ld.shared.u32 %r0, [word];
    mov.u32 %r1, %clock;
    add.u32 %r0, %r0, %r1;
    st.global.u32 [%at], %r0;
    ret;)"),
                      64);
  const Grid grid = client.grid({1, 1, 1}, {64, 1, 1});
  Block block;
  block.start(grid, {0, 0, 0});
  block.clock = 1000;
  Step step;
  while (block.warp(0).ready()) block.step(0, step);
  block.start(grid, {0, 0, 0});
  EXPECT_EQ(block.clock, 0U);
  while (block.warp(0).ready()) block.step(0, step);
  while (!block.done())
    for (const std::uint32_t w : {1U, 0U})
      if (block.warp(w).ready()) block.step(w, step);
  EXPECT_EQ(client.out(), table(64, [](auto) { return 41; }));
}

}  // namespace
}  // namespace wm::exec
