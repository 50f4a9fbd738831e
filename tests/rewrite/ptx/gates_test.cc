// Kernels with gates compute the same, stop while their word is set, and pay little for the tests.
#include "rewrite/ptx/gates.h"

#include "exec/run.h"
#include "ptx/print.h"
#include "rewrite/ptx/rewritten.h"

namespace wm::rewrite {
namespace {

// Every launch of a gated kernel gets the address of a word that holds `value`.
gpu::Application with_word(gpu::Application app, const std::map<std::string, GatedKernel>& gated, std::uint32_t value) {
  std::vector<std::uint32_t> words(kOpenGateOffset / 4 + 1);
  words[0] = value;
  const auto word = app.add("gate", words);
  app.steps.insert(app.steps.begin(), gpu::Transfer{gpu::Transfer::Direction::to_device, word, 0, words.size() * 4});
  for (gpu::Step& step : app.steps) {
    auto* launch = std::get_if<gpu::Launch>(&step);
    if (launch != nullptr && gated.at(launch->kernel).gates != 0) launch->arguments.push_back(gpu::buffer(word));
  }
  return app;
}

std::map<std::string, GatedKernel> gate_all(ptx::Module& module, const GateOptions& options = {}) {
  std::map<std::string, GatedKernel> gated;
  std::vector<std::string> names;
  for (const ptx::Function& f : module.functions) {
    if (f.entry) names.push_back(f.name);
  }
  for (const std::string& name : names) {
    const auto result = add_gates(module, name, options);
    if (!result) throw std::invalid_argument(result.error().to_string());
    gated.emplace(name, *result);
  }
  return gated;
}

class GatedZoo : public testing::TestWithParam<const zoo::Entry*> {};

TEST_P(GatedZoo, LeavesTheSameBuffers) {
  const ptx::Module original = parsed(std::string(GetParam()->ptx));
  ptx::Module module = original;
  const auto gated = gate_all(module);
  const zoo::Case c = GetParam()->benchmark.make(zoo::Size::small);
  EXPECT_EQ(compare_runs(original, c.application, module, with_word(c.application, gated, 0)), "");
}

INSTANTIATE_TEST_SUITE_P(Zoo, GatedZoo, testing::ValuesIn(zoo::all_benchmarks()), zoo::benchmark_name);

constexpr const char* kSumLoop = R"(
.version 7.8
.target sm_75
.address_size 64
.entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r5, %tid.x;
LOOP:
  mad.lo.u32 %r3, %r3, 3, %r2;
  add.u32 %r2, %r2, 1;
  setp.eq.u32 %p2, %r2, 1000;
  @%p2 bra OUT;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra LOOP;
OUT:
  mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;
  ret;
})";

gpu::Application sum_application(std::uint32_t n) {
  gpu::Application app;
  const auto out = app.add_uninitialized("out", 32 * 4);
  app.launch({"k", {1}, {32}, {gpu::buffer(out), gpu::scalar(n)}, 0});
  return app;
}

TEST(Gates, EveryTripCountOfAnUnrolledLoopGivesTheSameResult) {
  const ptx::Module original = parsed(kSumLoop);
  ptx::Module module = original;
  const auto gated = gate_all(module);
  EXPECT_EQ(gated.at("k").gates, 1U);
  EXPECT_EQ(gated.at("k").unrolled, 1U);
  for (const std::uint32_t n : {0U, 1U, 2U, 24U, 25U, 26U, 27U, 51U, 100U, 999U, 1000U, 1001U}) {
    const gpu::Application app = sum_application(n);
    EXPECT_EQ(compare_runs(original, app, module, with_word(app, gated, 0)), "") << n << " iterations";
  }
}

// A loop of one block that counts by `step` to the bound, compared as `how`.
std::string counting_loop(const std::string& how, const std::string& type, int first, int step) {
  const std::string wide = type.ends_with("64") ? "64" : "32";
  return ".version 7.8\n.target sm_75\n.address_size 64\n.entry k(.param .u64 out, .param .u32 n)\n{\n"
         ".reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .pred %p<2>;\n"
         "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; mov.u32 %r5, %tid.x; mov.u32 %r3, 1;\n"
         ".reg .b" +
         wide + " %i, %n; cvt.s" + wide + ".s32 %n, %r1; mov.b" + wide + " %i, " + std::to_string(first) +
         ";\nLOOP:\nmad.lo.u32 %r3, %r3, 3, 1;\nadd.s" + wide + " %i, %i, " + std::to_string(step) + ";\nsetp." + how +
         "." + type +
         " %p1, %i, %n;\n@%p1 bra LOOP;\n"
         "mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;\nret;\n}";
}

void expect_same_for_all_bounds(const std::string& text, const std::vector<int>& bounds) {
  const ptx::Module original = parsed(text);
  ptx::Module module = original;
  const auto gated = gate_all(module, {.interval = 40});
  ASSERT_EQ(gated.at("k").strips, 1U) << text;
  for (const int n : bounds) {
    const gpu::Application app = sum_application(static_cast<std::uint32_t>(n));
    EXPECT_EQ(compare_runs(original, app, module, with_word(app, gated, 0)), "") << text << n;
  }
}

TEST(Gates, StripMinedLoopsGiveTheSameResultForEveryBound) {
  const std::vector<int> near{0, 1, 2, 9, 10, 11, 12, 19, 20, 21, 30, 31, 1000};
  expect_same_for_all_bounds(counting_loop("lt", "s32", 0, 1), near);
  expect_same_for_all_bounds(counting_loop("lt", "s32", 5, 3), {-7, 0, 4, 5, 6, 35, 36, 37, 38, 900});
  expect_same_for_all_bounds(counting_loop("lt", "u32", 0, 4), {0, 3, 4, 39, 40, 41, 44, 800});
  expect_same_for_all_bounds(counting_loop("gt", "s32", 100, -1), {100, 101, 99, 91, 90, 89, 0, -100});
  expect_same_for_all_bounds(counting_loop("ne", "s32", 400, -4), {396, 360, 356, 0, -40});
  expect_same_for_all_bounds(counting_loop("ne", "s32", 0, 1), {1, 9, 10, 11, 500});
  expect_same_for_all_bounds(counting_loop("lt", "s64", -3, 2), {-10, -3, -2, 0, 16, 17, 18, 700});
  expect_same_for_all_bounds(counting_loop("ne", "s64", 90, -3), {87, 60, 57, 0, -300});
}

TEST(Gates, AWarpThatWasHeldForLongGoesOn) {
  const ptx::Module original = parsed(kSumLoop);
  ptx::Module module = original;
  const auto gated = gate_all(module, {.max_sleeps = 3});
  const gpu::Application app = sum_application(1001);
  EXPECT_EQ(compare_runs(original, app, module, with_word(app, gated, 1)), "");
}

TEST(Gates, WarpsStopWhileTheWordIsSet) {
  ptx::Module module = parsed(kSumLoop);
  const auto gated = gate_all(module, {.max_sleeps = 1'000'000});
  std::optional<exec::Fault> fault;
  exec::RunOptions options;
  options.max_instructions = 100'000;
  options.on_fault = [&](const exec::Fault& f) { fault = f; };
  const auto result = exec::run_application(module, with_word(sum_application(1001), gated, 1), options);
  EXPECT_FALSE(result.ok());
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, exec::Fault::Kind::instruction_limit);
}

TEST(Gates, AKernelWithoutLoopsIsUnchanged) {
  const ptx::Module original =
      parsed(".version 7.8\n.target sm_75\n.address_size 64\n.entry k(.param .u64 out) { ret; }");
  ptx::Module module = original;
  EXPECT_EQ(gate_all(module).at("k").gates, 0U);
  EXPECT_EQ(ptx::print(module), ptx::print(original));
}

std::uint64_t warp_instructions(const ptx::Module& module, const gpu::Application& app) {
  const auto result = exec::run_application(module, app);
  if (!result) throw std::invalid_argument(result.error().to_string());
  std::uint64_t sum = 0;
  for (const exec::LaunchRecord& l : result->launches) sum += l.statistics.warp_instructions;
  return sum;
}

TEST(Gates, TestsAddAFewPercentToALongLoop) {
  const ptx::Module original = parsed(kSumLoop);
  ptx::Module module = original;
  const auto gated = gate_all(module);
  const gpu::Application app = sum_application(999);
  const double before = static_cast<double>(warp_instructions(original, app));
  const double after = static_cast<double>(warp_instructions(module, with_word(app, gated, 0)));
  EXPECT_LT(after / before, 1.05);
  EXPECT_GT(after, before);
}

}  // namespace
}  // namespace wm::rewrite
