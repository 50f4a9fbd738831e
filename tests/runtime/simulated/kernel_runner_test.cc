// Launches leave the same memory on one thread, on several, and on the cycle machine, which adds the same time every
// run.
#include "runtime/simulated/kernel_runner.h"

#include <gtest/gtest.h>

#include "gpu/load_gpu.h"
#include "tree.h"

namespace wm::runtime {
namespace {

// Squares of block and thread numbers, and a count of all threads.
constexpr const char* kPtx = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry squares(.param .u64 out, .param .u64 total)
{
.reg .b32 %r<8>; .reg .b64 %d<8>;
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
mul.lo.s32 %r5, %r4, %r4; mul.wide.u32 %d1, %r4, 4;
ld.param.u64 %d2, [out]; add.s64 %d2, %d2, %d1; st.global.u32 [%d2], %r5;
ld.param.u64 %d3, [total]; red.global.add.u32 [%d3], 1;
ret;
}
.visible .entry chained(.param .u64 total)
{
.reg .b32 %r<4>; .reg .b64 %d<4>;
ld.param.u64 %d1, [total]; atom.global.add.u32 %r1, [%d1], 1; ret;
}
)";

struct Fixture {
  Fixture() {
    auto loaded = LoadedModule::load(kPtx, "kernels.ptx", config, memory, nullptr);
    EXPECT_TRUE(loaded) << loaded.error().to_string();
    module = *std::move(loaded);
    out = *memory.allocate(4 * kThreads, "out", nullptr);
    total = *memory.allocate(4, "total", nullptr);
  }

  KernelResult run(KernelRunner& runner) {
    EXPECT_TRUE(memory.fill(total, 0, 4, 1));
    EXPECT_TRUE(memory.fill(out, 0, 4, kThreads));
    const LoadedKernel* kernel = *module->kernel("squares");
    gpu::Launch launch{"squares", {kThreads / 64}, {64}, {gpu::scalar(out), gpu::scalar(total)}, 0};
    auto grid = exec::make_grid(kernel->program, kernel->constants, memory.space(), launch, {});
    EXPECT_TRUE(grid) << grid.error().what;
    return runner.run(*grid, *kernel, {});
  }
  void expect_results() {
    const DeviceMemory::Reader reader(memory);
    const auto* values = reinterpret_cast<const std::uint32_t*>(memory.bytes_at(out, 4 * kThreads));
    for (std::uint32_t i = 0; i < kThreads; ++i) ASSERT_EQ(values[i], i * i);
    EXPECT_EQ(*reinterpret_cast<const std::uint32_t*>(memory.bytes_at(total, 4)), kThreads);
  }

  static constexpr std::uint32_t kThreads = 64 * 64;
  gpu::GpuConfig config = *gpu::load_gpu("qos16", source_path("configs/gpus"));
  DeviceMemory memory{1 << 24};
  std::unique_ptr<LoadedModule> module;
  std::uint64_t out = 0, total = 0;
};

TEST(KernelRunner, ManyThreadsLeaveTheMemoryOfOne) {
  Fixture f;
  for (const std::uint32_t threads : {1U, 2U, 5U}) {
    const auto runner = make_functional_runner(f.memory, threads);
    const KernelResult result = f.run(*runner);
    EXPECT_FALSE(result.fault);
    EXPECT_EQ(result.statistics.blocks, 64U);
    EXPECT_EQ(result.nanoseconds, 0U);
    f.expect_results();
  }
}

TEST(KernelRunner, OnlyKernelsWithoutOrderRunBlocksSideBySide) {
  Fixture f;
  EXPECT_TRUE(independent_of_block_order(*(*f.module->kernel("squares"))->program));
  EXPECT_FALSE(independent_of_block_order(*(*f.module->kernel("chained"))->program));
}

TEST(KernelRunner, TheCycleMachineAddsTheSameTimeEveryRun) {
  std::uint64_t cycles = 0;
  for (const std::uint32_t threads : {1U, 2U}) {
    Fixture f;
    const auto runner = make_timed_runner(f.memory, f.config, {.threads = threads});
    ASSERT_TRUE(runner) << runner.error().what;
    const KernelResult first = f.run(**runner);
    f.expect_results();
    const KernelResult second = f.run(**runner);
    f.expect_results();
    EXPECT_FALSE(first.fault || second.fault);
    EXPECT_GT(first.cycles, 100U);
    EXPECT_GT(second.statistics.warp_instructions, 128U * 10);
    EXPECT_TRUE(cycles == 0 || cycles == first.cycles);
    cycles = first.cycles;
  }
}

TEST(KernelRunner, AKernelWithAGoalRunsUnderAPolicyWithGoals) {
  Fixture f;
  const auto runner = make_timed_runner(f.memory, f.config, {.policy = "smqos"});
  ASSERT_TRUE(runner) << runner.error().what;
  (*runner)->set_goal("squares", 10);
  EXPECT_FALSE(f.run(**runner).fault);
  f.expect_results();
}

TEST(KernelRunner, LaunchesOutsideOfTheRangeTakeNoTime) {
  Fixture f;
  const auto runner = make_timed_runner(f.memory, f.config, {.first_launch = 2, .last_launch = 2});
  ASSERT_TRUE(runner);
  EXPECT_EQ(f.run(**runner).cycles, 0U);
  EXPECT_GT(f.run(**runner).cycles, 0U);
  EXPECT_EQ(f.run(**runner).cycles, 0U);
  f.expect_results();
}

TEST(KernelRunner, TheBlockMachineTakesTheTimeOfTheFirstLaunch) {
  Fixture f;
  TimedOptions options;
  const auto cycle = make_timed_runner(f.memory, f.config, options);
  options.machine = TimedOptions::Machine::block;
  const auto block = make_timed_runner(f.memory, f.config, options);
  ASSERT_TRUE(cycle && block);
  const auto cycles = static_cast<double>(f.run(**cycle).cycles);
  std::uint64_t first = 0;
  for (int i = 0; i < 3; ++i) {
    const KernelResult result = f.run(**block);
    EXPECT_FALSE(result.fault);
    f.expect_results();
    if (i == 0) first = result.cycles;
    EXPECT_EQ(result.cycles, first);
  }
  EXPECT_NEAR(static_cast<double>(first), cycles, 0.25 * cycles);
  options.policy = "quota";
  EXPECT_FALSE(make_timed_runner(f.memory, f.config, options));  // the block machine has no quotas
}

TEST(KernelRunner, AFaultOnTheCycleMachineIsReported) {
  Fixture f;
  const auto runner = make_timed_runner(f.memory, f.config, {});
  ASSERT_TRUE(runner);
  f.out = 0x700000000008;
  const LoadedKernel* kernel = *f.module->kernel("squares");
  gpu::Launch launch{"squares", {1}, {32}, {gpu::scalar(f.out), gpu::scalar(f.total)}, 0};
  const auto grid = exec::make_grid(kernel->program, kernel->constants, f.memory.space(), launch, {});
  const KernelResult result = (*runner)->run(*grid, *kernel, {});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, exec::Fault::Kind::out_of_bounds);
}

}  // namespace
}  // namespace wm::runtime
