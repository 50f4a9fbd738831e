// The zoo on our own executor: the build's PTX gives the results of the CPU references, and a broken kernel does not.
#include <string>

#include "exec/run.h"
#include "kernels/every_benchmark.h"
#include "ptx/parse.h"

namespace wm::zoo {

namespace {

Result<exec::ApplicationResult> execute(std::string_view ptx, const gpu::Application& app) {
  const Result<ptx::Module> module = ptx::parse(ptx);
  if (!module) return module.error();
  return exec::run_application(*module, app);
}

// The verdict of checking `c` with the kernels of `ptx`: "passed", or a description of the error.
std::string verdict(std::string_view ptx, const Case& c) {
  const auto result = execute(ptx, c.application);
  if (!result) return result.error().to_string();
  const Result<void> r = verify(c, contents_of(result->buffers));
  return r.ok() ? "passed" : r.error().to_string();
}

// The verdict on the benchmark at small when the first such instruction is another.
std::string verdict_of_broken(std::string_view benchmark, std::string_view instruction, std::string_view other) {
  const Entry& entry = **find(benchmark);
  std::string ptx(entry.ptx);
  const std::size_t at = ptx.find(instruction);
  if (at == std::string::npos) return "passed";  // the PTX has no such instruction
  return verdict(ptx.replace(at, instruction.size(), other), entry.benchmark.make(Size::small));
}

class OnTheExecutor : public testing::TestWithParam<const Entry*> {};

}  // namespace

TEST_P(OnTheExecutor, GivesTheReferencesResults) {
  const Case c = GetParam()->benchmark.make(size_asked_for());
  const auto result = execute(GetParam()->ptx, c.application);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  std::uint64_t instructions = 0;
  for (const exec::LaunchRecord& launch : result->launches) instructions += launch.statistics.warp_instructions;
  RecordProperty("warp_instructions", std::to_string(instructions));
  const Result<void> r = verify(c, contents_of(result->buffers));
  EXPECT_TRUE(r.ok()) << r.error().to_string();
  if (size_asked_for() == Size::small) {
    EXPECT_LE(instructions, 400000U) << "small is meant to be quick";
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, OnTheExecutor, testing::ValuesIn(all_benchmarks()), benchmark_name);

// These have kernels of their own for short blocks. So has binomial, whose inputs take seconds.
TEST(ShortBlocks, GiveTheReferencesResults) {
  for (const char* name : {"gesummv", "libor"}) {
    const Entry& entry = **find(name);
    EXPECT_EQ(verdict(entry.ptx, entry.benchmark.make(Size::short_blocks)), "passed") << name;
  }
}

TEST(ABrokenKernel, FailsWhenASumBecomesADifference) {
  EXPECT_NE(verdict_of_broken("vecadd", "add.f32", "sub.f32"), "passed");
}

TEST(ABrokenKernel, FailsWhenAComparisonTurns) { EXPECT_NE(verdict_of_broken("bfs", "setp.ne", "setp.eq"), "passed"); }

TEST(ABrokenKernel, FailsWhenCountsAreLost) {
  EXPECT_NE(verdict_of_broken("histo", "atom.shared.add", "atom.shared.max"), "passed");
}

TEST(ABrokenKernel, FailsWhenItReturnsAtOnce) {
  EXPECT_NE(verdict_of_broken("stencil", "ld.param", "ret;\n\tld.param"), "passed");
}

TEST(ABrokenKernel, FailsWhenABarrierIsMissing) {
  EXPECT_NE(verdict_of_broken("sgemm", "bar.sync \t0;", ""), "passed");
}

}  // namespace wm::zoo
