// A kernel leaves the same memory in the order of its text and in the order of an assembler (ptx/schedule.h).
#include <cstdlib>

#include "exec/generated_kernel.h"
#include "exec/snippet.h"
#include "ptx/dependencies.h"
#include "ptx/predication.h"
#include "ptx/random_loop.h"
#include "ptx/schedule.h"
#include "ptx/unroll.h"

namespace wm::exec {
namespace {

struct Ran {
  std::vector<std::byte> out;
  std::string error;
};

Ran run_module(const ptx::Module& module, gpu::Dim3 grid, gpu::Dim3 block, std::size_t words) {
  gpu::Application app;
  const auto out = app.add("out", std::vector<std::uint32_t>(words, 0));
  app.upload(out);
  app.launch({"k", grid, block, {gpu::buffer(out)}, 0});
  RunOptions options;
  options.max_instructions = 1000000;
  auto ran = run_application(module, app, options, "k.ptx");
  if (!ran) return {{}, ran.error().to_string()};
  return {ran->buffers[0], ""};
}

void expect_same_in_latency_order(const std::string& text, gpu::Dim3 grid, gpu::Dim3 block, std::size_t words) {
  auto module = ptx::parse(text, "k.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string() << "\n" << text;
  ptx::Module ordered = *module;
  for (ptx::Function& f : ordered.functions) {
    const ptx::Function original = ptx::predicated(ptx::unrolled(f));
    f = ptx::in_latency_order(original);
    ASSERT_EQ(ptx::violated_dependency(original, f), std::nullopt) << text;
  }
  const Ran expected = run_module(*module, grid, block, words), got = run_module(ordered, grid, block, words);
  ASSERT_EQ(expected.error, "") << text;
  ASSERT_EQ(got.error, "") << text;
  EXPECT_TRUE(got.out == expected.out) << text;
}

// if (t == 0) s = n; __syncthreads(); int v = s; o[b] = t < v ? v : -1; with a volatile shared s.
TEST(Reorder, AVolatileSharedVariableIsReadAndItsDependantsStay) {
  expect_same_in_latency_order(kernel(R"(
    .shared .align 4 .b32 s;
    setp.ne.u32 %p1, %thread, 0;
    @%p1 bra READ;
    st.volatile.shared.u32 [s], 7;
  READ:
    bar.sync 0;
    ld.volatile.shared.u32 %r1, [s];
    setp.lt.s32 %p2, %thread, %r1;
    selp.b32 %r2, %r1, -1, %p2;
    st.global.u32 [%at], %r2;
    ret;)"),
                               {1, 1, 1}, {32, 1, 1}, 32);
}

// The last warp of a classic reduction: volatile accesses instead of barriers.
TEST(Reorder, TheLastWarpOfAReductionKeepsItsOrder) {
  std::string body = R"(
    .shared .align 4 .b32 s[64];
    shl.b32 %r1, %thread, 2;
    mov.u32 %r2, s;
    add.u32 %r1, %r1, %r2;
    st.volatile.shared.u32 [%r1], %thread;
    st.volatile.shared.u32 [%r1+128], 0;
)";
  for (const int step : {16, 8, 4, 2, 1})
    body += "ld.volatile.shared.u32 %r3, [%r1];\nld.volatile.shared.u32 %r4, [%r1+" + std::to_string(step * 4) +
            "];\nadd.u32 %r3, %r3, %r4;\nst.volatile.shared.u32 [%r1], %r3;\n";
  body += "ld.volatile.shared.u32 %r5, [%r1];\nst.global.u32 [%at], %r5;\nret;";
  expect_same_in_latency_order(kernel(body), {1, 1, 1}, {32, 1, 1}, 32);
}

// __int128: s = x + y; d = x - y.
TEST(Reorder, TwoCarryChainsStayApart) {
  expect_same_in_latency_order(kernel(R"(
    mul.lo.u32 %r1, %thread, 0x9e3779b1;
    mul.lo.u32 %r2, %thread, 0x85ebca6b;
    not.b32 %r3, %r1;
    not.b32 %r4, %r2;
    add.cc.u32 %r5, %r1, %r3;
    addc.u32 %r6, %r2, %r4;
    sub.cc.u32 %r7, %r1, %r3;
    subc.u32 %r8, %r2, %r4;
    xor.b32 %r5, %r5, %r6;
    xor.b32 %r7, %r7, %r8;
    mad.lo.u32 %r5, %r5, 31, %r7;
    st.global.u32 [%at], %r5;
    ret;)"),
                               {1, 1, 1}, {32, 1, 1}, 32);
}

Ran run_loop(const ptx::Module& module, std::uint32_t turns, std::uint32_t lane) {
  gpu::Application app;
  const auto out = app.add("out", std::vector<std::uint32_t>(16384, 3));
  app.upload(out);
  app.launch({"k", {1, 1, 1}, {8, 1, 1}, {gpu::buffer(out), gpu::scalar(turns), gpu::scalar(lane)}, 0});
  RunOptions options;
  options.max_instructions = 20000;
  auto ran = run_application(module, app, options, "k.ptx");
  if (!ran) return {{}, ran.error().to_string()};
  return {ran->buffers[0], ""};
}

// Loops as written and as an assembler unrolls, predicates and orders them. Those that fault or do not end are left
// out.
TEST(Reorder, RandomLoopsLeaveTheSameMemory) {
  const char* text = std::getenv("WM_GENERATED_KERNELS");     // NOLINT(concurrency-mt-unsafe)
  const int count = text != nullptr ? std::atoi(text) : 150;  // NOLINT(cert-err34-c)
  int compared = 0, unrolled = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::string source = ptx::RandomLoop(static_cast<std::uint64_t>(seed)).module();
    const auto module = ptx::parse(source, "k.ptx");
    ASSERT_TRUE(module.ok()) << module.error().to_string() << "\n" << source;
    ptx::Module assembled = *module;
    ptx::Function& f = assembled.functions[0];
    const ptx::Function longer = ptx::unrolled(f);
    unrolled += longer.body.size() > f.body.size() ? 1 : 0;
    f = ptx::in_latency_order(ptx::predicated(longer));
    for (const std::uint32_t turns : {1U, 2U, 4U, 7U, 8U, 28U}) {
      const std::uint32_t lane = turns % 2 == 0 ? 2 : 6;
      const Ran expected = run_loop(*module, turns, lane);
      if (!expected.error.empty()) continue;
      const Ran got = run_loop(assembled, turns, lane);
      ASSERT_EQ(got.error, "") << source;
      ASSERT_TRUE(got.out == expected.out) << "seed " << seed << ", " << turns << " turns, lane " << lane << "\n"
                                           << source;
      ++compared;
    }
  }
  EXPECT_GT(compared, count);
  EXPECT_GT(unrolled, count / 20);
}

// WM_GENERATED_KERNELS chooses another number than the one of the default suite.
TEST(Reorder, GeneratedKernelsLeaveTheSameMemory) {
  const char* text = std::getenv("WM_GENERATED_KERNELS");     // NOLINT(concurrency-mt-unsafe)
  const int count = text != nullptr ? std::atoi(text) : 100;  // NOLINT(cert-err34-c)
  for (int seed = 0; seed < count && !testing::Test::HasFailure(); ++seed)
    expect_same_in_latency_order(generated_kernel(static_cast<std::uint64_t>(seed)), {kGeneratedBlocks, 1, 1},
                                 {kGeneratedThreads, 1, 1}, kGeneratedOutWords);
}

}  // namespace
}  // namespace wm::exec
