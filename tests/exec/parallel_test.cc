// Blocks on several threads of the host, and blocks that wait for each other.
#include <atomic>

#include "exec/loaded_kernel.h"
#include "exec/parallel_blocks.h"

namespace wm::exec {
namespace {

// Every block reads the word that the block before it in memory writes: a race, which the batches decide.
const std::string kShift = kernel(R"(
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mad.lo.u32 %r0, %r0, %r1, %thread;
    mul.wide.u32 %d0, %r0, 4;
    add.u64 %d0, %d0, %out;
    ld.global.u32 %r2, [%d0];
    add.u32 %r2, %r2, %r0;
    st.global.u32 [%d0+4], %r2;
    ret;)");

std::vector<std::uint32_t> shifted(std::uint32_t threads) {
  LoadedKernel kernel(kShift, 200 * 32 + 1);
  const Grid grid = kernel.grid({200, 1, 1}, {32, 1, 1});
  RunOptions options;
  options.threads = threads;
  const LaunchResult result = run_launch(grid, options);
  EXPECT_FALSE(result.fault.has_value());
  EXPECT_EQ(result.statistics.blocks, 200U);
  return kernel.out();
}

TEST(ParallelBlocks, GiveTheSameForAnyNumberOfThreads) {
  const auto one = shifted(1);
  EXPECT_EQ(one[32], 31U);
  EXPECT_EQ(one, shifted(2));
  EXPECT_EQ(one, shifted(5));
}

TEST(ParallelBlocks, FewBlocksWithMuchLocalMemoryAreInMemoryAtOnce) {
  LoadedKernel small(kShift, 32);
  EXPECT_EQ(blocks_in_a_batch(small.grid({200, 1, 1}, {1024, 1, 1})), 64U);
  // 1,024 threads with 400 KB each: five blocks have less than 2 GB, six have more.
  LoadedKernel large(kernel(".local .b8 own[400000];\nst.local.u32 [own], %thread;\nret;"), 32);
  EXPECT_EQ(blocks_in_a_batch(large.grid({200, 1, 1}, {1024, 1, 1})), 5U);
  EXPECT_EQ(blocks_in_a_batch(large.grid({200, 1, 1}, {32, 1, 1})), 64U);
}

TEST(ParallelBlocks, AFaultIsThatOfTheFirstBlock) {
  LoadedKernel kernel(exec::kernel(R"(
    mov.u32 %r0, %ctaid.x;
    setp.lt.u32 %p0, %r0, 70;
    @%p0 ret;
    st.global.u32 [0], %r0;
    ret;)"),
                      32);
  const Grid grid = kernel.grid({100, 1, 1}, {32, 1, 1});
  RunOptions options;
  options.threads = 3;
  const LaunchResult result = run_launch(grid, options);
  ASSERT_TRUE(result.fault.has_value());
  EXPECT_EQ(result.fault->block.x, 70U);
}

TEST(ParallelBlocks, TheInstructionLimitHolds) {
  LoadedKernel kernel(exec::kernel("L:\nadd.u32 %r0, %r0, 1;\nbra L;"), 32);
  RunOptions options;
  options.threads = 2;
  options.max_instructions = 1000;
  const LaunchResult result = run_launch(kernel.grid({3, 1, 1}, {32, 1, 1}), options);
  ASSERT_TRUE(result.fault.has_value());
  EXPECT_EQ(result.fault->kind, Fault::Kind::instruction_limit);
}

TEST(ParallelBlocks, ALaunchThatNeverEndsIsStopped) {
  LoadedKernel kernel(exec::kernel("L:\nadd.u32 %r0, %r0, 1;\nbra L;"), 32);
  for (const std::uint32_t threads : {0U, 2U}) {
    std::atomic<int> questions{0};
    RunOptions options;
    options.threads = threads;
    options.is_stopped = [&] { return ++questions > 3; };
    const LaunchResult result = run_launch(kernel.grid({3, 1, 1}, {32, 1, 1}), options);
    ASSERT_TRUE(result.fault.has_value());
    EXPECT_EQ(result.fault->kind, Fault::Kind::instruction_limit);
  }
}

TEST(ParallelBlocks, KernelsWhoseBlocksCommunicateAreLeftOut) {
  const auto independent = [](const std::string& body) {
    auto module = ptx::parse(kernel(body), "k.ptx");
    EXPECT_TRUE(module.ok());
    return blocks_are_independent(**decode(*module, "k", "k.ptx"));
  };
  EXPECT_TRUE(independent("st.global.u32 [%at], 1;\nbar.sync 0;\nret;"));
  EXPECT_FALSE(independent("red.global.add.u32 [%at], 1;\nret;"));
  EXPECT_FALSE(independent("atom.global.add.u32 %r0, [%at], 1;\nret;"));
  EXPECT_FALSE(independent("ld.volatile.global.u32 %r0, [%at];\nret;"));
}

// The barrier of cooperative groups: the first block adds what flips the top bit when all others have arrived.
TEST(Cooperative, BlocksWaitForEachOtherInTheWorkspace) {
  const std::string text = kernel(R"(
    mov.b64 %d0, {%envreg2, %envreg1};
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %nctaid.x;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d1, %d1, %out;
    bar.sync 0;
    setp.ne.u32 %p0, %thread, 0;
    @%p0 bra MET;
    mul.lo.u32 %r8, %r0, 7;
    st.global.u32 [%d1], %r8;
    sub.u32 %r2, %r1, 1;
    sub.u32 %r2, 0x80000000, %r2;
    setp.ne.u32 %p1, %r0, 0;
    selp.u32 %r2, 1, %r2, %p1;
    fence.acq_rel.gpu;
    atom.add.u32 %r3, [%d0+4], %r2;
  WAIT:
    ld.acquire.gpu.u32 %r4, [%d0+4];
    xor.b32 %r5, %r3, %r4;
    setp.ge.s32 %p2, %r5, 0;
    @%p2 bra WAIT;
  MET:
    bar.sync 0;
    add.u32 %r6, %r0, 1;
    rem.u32 %r6, %r6, %r1;
    mul.wide.u32 %d2, %r6, 4;
    add.u64 %d2, %d2, %out;
    ld.global.u32 %r7, [%d2];
    setp.eq.u32 %p3, %thread, 0;
    @%p3 st.global.u32 [%d1+64], %r7;
    ret;)");
  LoadedKernel loaded(text, 32);
  const Grid grid = loaded.grid({16, 1, 1}, {64, 1, 1}, true);
  const LaunchResult result = run_launch(grid);
  ASSERT_FALSE(result.fault.has_value()) << result.fault->to_string();
  EXPECT_EQ(loaded.out(), table(32, [](auto i) { return i < 16 ? i * 7 : (i + 1) % 16 * 7; }));
  EXPECT_LT(result.statistics.warp_instructions, 16U * 3 * 1024);  // a block that waits soon lets others run
}

TEST(Cooperative, OtherLaunchesHaveNoWorkspace) {
  EXPECT_EQ(words("mov.b64 %d0, {%envreg2, %envreg1};\ncvt.u32.u64 %r0, %d0;\nst.global.u32 [%at], %r0;\nret;"),
            table(32, [](auto) { return 0; }));
}

}  // namespace
}  // namespace wm::exec
