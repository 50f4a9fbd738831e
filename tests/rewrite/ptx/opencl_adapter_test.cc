// Adapted PTX leaves the same memory as the original, and needs nothing of OpenCL's driver any more.
#include "rewrite/ptx/opencl_adapter.h"

#include <array>

#include "ptx/print.h"
#include "rewrite/ptx/rewritten.h"

namespace wm::rewrite {
namespace {

constexpr const char* kHeader = ".version 7.8\n.target sm_75, texmode_independent\n.address_size 64\n";

AdaptedModule adapted(const std::string& text) {
  auto result = adapt_opencl(parsed(text));
  if (!result) throw std::invalid_argument(result.error().to_string());
  return *std::move(result);
}

class AdaptedZoo : public testing::TestWithParam<const zoo::Entry*> {};

TEST_P(AdaptedZoo, LeavesTheSameBuffers) {
  const ptx::Module original = parsed(as_nvidia_opencl(GetParam()->ptx));
  const auto result = adapt_opencl(original);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_TRUE(result->refused.empty());
  const std::string text = ptx::print(result->module);
  EXPECT_EQ(text.find("%envreg"), std::string::npos);
  EXPECT_EQ(text.find(".ptr .shared"), std::string::npos);
  EXPECT_EQ(text.find("texmode_independent"), std::string::npos);
  const zoo::Case c = GetParam()->benchmark.make(zoo::Size::small);
  EXPECT_EQ(compare_runs(original, c.application, result->module, for_adapted(c.application, *result)), "");
}

INSTANTIATE_TEST_SUITE_P(Zoo, AdaptedZoo, testing::ValuesIn(zoo::all_benchmarks()), zoo::benchmark_name);

// Each thread writes into two __local arrays and reads its neighbour's words after the barrier.
constexpr const char* kTwoLocalArrays = R"(
.entry k(.param .u64 .ptr .global .align 4 out, .param .u64 .ptr .shared .align 4 a, .param .u64 .ptr .shared .align 4 b)
{
  .reg .b32 %r<8>; .reg .b64 %rd<10>;
  .shared .align 4 .b32 own[4];
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;
  st.shared.u32 [own], %r1;
  add.s64 %rd5, %rd2, %rd4; add.s64 %rd6, %rd3, %rd4;
  add.u32 %r2, %r1, 100; st.shared.u32 [%rd5], %r2;
  add.u32 %r3, %r1, 200; st.shared.u32 [%rd6], %r3;
  bar.sync 0;
  ld.shared.u32 %r4, [%rd5]; ld.shared.u32 %r5, [%rd6]; mad.lo.u32 %r6, %r4, 1000, %r5;
  add.s64 %rd7, %rd1, %rd4; st.global.u32 [%rd7], %r6;
  ret;
})";

TEST(OpenClAdapter, LocalArgumentsAreApartAndBehindTheKernelsOwnSharedMemory) {
  const std::string text = std::string(kHeader) + kTwoLocalArrays;
  gpu::Application app;
  const auto out = app.add_uninitialized("out", 32 * 4);
  app.launch({"k", {1}, {32}, {gpu::buffer(out), gpu::LocalMemory{128}, gpu::LocalMemory{128}}, 0});
  const AdaptedModule result = adapted(text);
  ASSERT_EQ(result.kernels.size(), 1U);
  EXPECT_TRUE(result.kernels[0].parameters[1].local_memory);
  EXPECT_FALSE(result.kernels[0].parameters[0].local_memory);
  EXPECT_FALSE(result.kernels[0].reads_environment);
  EXPECT_EQ(compare_runs(parsed(text), app, result.module, for_adapted(app, result)), "");
}

// A function reads the global offset and the number of groups; the kernel reads the work dimension.
constexpr const char* kEnvironmentInFunction = R"(
.func (.param .b32 result) offset(.param .b32 scale)
{
  .reg .b32 %r<6>;
  ld.param.b32 %r1, [scale];
  mov.b32 %r2, %envreg3; mov.b32 %r3, %envreg6;
  mad.lo.u32 %r4, %r2, %r1, %r3;
  st.param.b32 [result], %r4;
  ret;
}
.entry k(.param .u64 .ptr .global .align 4 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  { .param .b32 given; .param .b32 got; st.param.b32 [given], %r1;
    call (got), offset, (given); ld.param.b32 %r2, [got]; }
  mov.b32 %r3, %envreg9;
  mad.lo.u32 %r4, %r3, 10000, %r2;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r4;
  ret;
})";

TEST(OpenClAdapter, FunctionsGetTheEnvironmentOfTheirKernel) {
  const AdaptedModule result = adapted(std::string(kHeader) + kEnvironmentInFunction);
  ASSERT_TRUE(result.kernels[0].reads_environment);
  gpu::Application app;
  const auto out = app.add_uninitialized("out", 4 * 4);
  gpu::Launch launch{"k", {4}, {1}, {gpu::buffer(out)}, 0};
  const std::array<std::uint32_t, kEnvironmentWords> words{0, 0, 0, 7, 0, 0, 4, 1, 1, 2};
  launch.arguments.push_back(gpu::scalar(words));
  app.launch(launch);
  app.download(out);
  const auto got = run_ptx(ptx::print(result.module), app);
  ASSERT_TRUE(got.ok()) << got.error().to_string();
  std::array<std::uint32_t, 4> values{};
  std::memcpy(values.data(), (*got)[0].data(), sizeof values);
  EXPECT_EQ(values, (std::array<std::uint32_t, 4>{20004, 20011, 20018, 20025}));
}

// As NVIDIA's compiler reads a table of the program and a buffer that is passed as __constant.
constexpr const char* kTwoConstants = R"(
.const .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 0, 0, 0};
.entry k(.param .u64 .ptr .global .align 4 out, .param .u64 .ptr .const .align 4 given)
{
  .reg .b32 %r<5>; .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [given];
  mov.u64 %rd3, table; add.s64 %rd4, %rd3, 4; ld.const.u32 %r1, [%rd4];
  add.s64 %rd5, %rd2, 4; ld.const.u32 %r2, [%rd5];
  mad.lo.u32 %r3, %r1, 100, %r2; st.global.u32 [%rd1], %r3;
  ret;
})";

TEST(OpenClAdapter, BuffersPassedAsConstantAreReadFromGlobalMemory) {
  const std::string text = std::string(kHeader) + kTwoConstants;
  gpu::Application app;
  const auto out = app.add_uninitialized("out", 4);
  const auto given = app.add("given", std::vector<std::uint32_t>{3, 4});
  app.upload(given);
  app.launch({"k", {1}, {1}, {gpu::buffer(out), gpu::buffer(given)}, 0});
  const AdaptedModule result = adapted(text);
  EXPECT_EQ(compare_runs(parsed(text), app, result.module, for_adapted(app, result)), "");
  const std::string printed = ptx::print(result.module);
  EXPECT_NE(printed.find("ld.const.u32 %r1"), std::string::npos);
  EXPECT_NE(printed.find("ld.global.u32 %r2"), std::string::npos);
}

TEST(OpenClAdapter, RefusesAKernelThatTakesTheAddressOfALocalParameter) {
  const std::string text = std::string(kHeader) + R"(
.entry k(.param .u64 .ptr .shared .align 4 a) { .reg .b64 %rd<3>; mov.b64 %rd1, a; ret; }
.entry fine(.param .u64 .ptr .shared .align 4 a) { ret; })";
  const AdaptedModule result = adapted(text);
  ASSERT_EQ(result.refused.size(), 1U);
  EXPECT_EQ(result.refused[0].name, "k");
  EXPECT_EQ(result.refused[0].reason, "the __local parameter 'a' is used other than by a load of its value");
  EXPECT_EQ(result.kernels.size(), 1U);
}

// A function behind a kernel that is refused; another kernel calls it.
TEST(OpenClAdapter, CallsNameTheirFunctionsWhereAKernelBeforeThemIsRefused) {
  const std::string text = std::string(kHeader) + R"(
.entry refused(.param .u64 .ptr .shared .align 4 a) { .reg .b64 %rd<3>; mov.b64 %rd1, a; ret; }
.func (.param .b32 result) seven() { st.param.b32 [result], 7; ret; }
.func (.param .b32 result) eight() { st.param.b32 [result], 8; ret; }
.entry k(.param .u64 .ptr .global .align 4 out)
{
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  { .param .b32 r; call.uni (r), seven, (); ld.param.b32 %r1, [r]; }
  st.global.u32 [%rd1], %r1;
  ret;
})";
  gpu::Application app;
  const auto out = app.add_uninitialized("out", 4);
  app.launch({"k", {1}, {1}, {gpu::buffer(out)}, 0});
  const AdaptedModule result = adapted(text);
  ASSERT_EQ(result.refused.size(), 1U);
  EXPECT_EQ(compare_runs(parsed(text), app, result.module, for_adapted(app, result)), "");
}

}  // namespace
}  // namespace wm::rewrite
