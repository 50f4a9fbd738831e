// The zoo and generated kernels, compiled by our own compiler and run by the daemon on the simulated GPU.
#include "kernels/every_benchmark.h"
#include "kernels/opencl_runner.h"
#include "rewrite/generator.h"
#include "rewrite/machines.h"
#include "runtime/compiler/compiled_side.h"

namespace wm::runtime::test {
namespace {

struct CompiledZoo : CompiledDevice {};

void gives_the_references_results(const zoo::Entry& entry) {
  const zoo::Case c = entry.benchmark.make(zoo::size_asked_for());
  auto program = zoo::OpenClProgram::build(entry.source, "-cl-std=CL1.2", "warpmux");
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  const auto buffers = program->run(c.application);
  ASSERT_TRUE(buffers.ok()) << buffers.error().to_string();
  const Result<void> verdict = verify(c, zoo::contents_of(*buffers));
  EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
}

TEST_F(CompiledZoo, EveryBenchmarkGivesTheReferencesResults) {
  for (const zoo::Entry* entry : zoo::all_benchmarks()) {
    SCOPED_TRACE(entry->benchmark.name);
    gives_the_references_results(*entry);
  }
}

// PoCL 3.1 says that the sizes of a fourth dimension are 0.
constexpr rewrite::Leave kExceptWhatPoclHasWrong{.kernel_calls = false, .fourth_dimension = true};

// The kernel leaves the same buffers on the native driver.
void same_as_native(const rewrite::Generated& g) {
  auto native = zoo::OpenClProgram::build(g.source, g.options, "Portable Computing Language");
  if (!native) GTEST_SKIP() << "PoCL is not installed, or does not build the kernel: " << native.error().to_string();
  const auto expected = native->run(g.application, {.offset = g.offset, .dimensions = 3});
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();
  auto compiled = zoo::OpenClProgram::build(g.source, g.options, "warpmux");
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string() << g.source;
  const auto got = compiled->run(g.application, {.offset = g.offset, .dimensions = 3});
  ASSERT_TRUE(got.ok()) << got.error().to_string();
  EXPECT_EQ(rewrite::difference(g.application, *expected, *got), "") << g.source;
}

struct CompiledKernels : CompiledDevice {};

TEST_F(CompiledKernels, GeneratedOnesLeaveTheSameBuffersAsNative) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    same_as_native(rewrite::generate(seed, kExceptWhatPoclHasWrong));
  }
}

struct LongCompiledKernels : CompiledDevice {};

TEST_F(LongCompiledKernels, GeneratedOnesLeaveTheSameBuffersAsNative) {
  for (std::uint64_t seed = 12; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    same_as_native(rewrite::generate(seed, kExceptWhatPoclHasWrong));
  }
}

// PoCL compiles some of these wrong, so that the executor runs the zoo's compilation instead.
TEST_F(CompiledKernels, GeneratedOnesWithBarriersInBranchesLeaveTheSameBuffersAsTheExecutor) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const rewrite::Generated g = rewrite::generate_branching(seed);
    const std::string extra = g.options.substr(g.options.find('=', g.options.find("-DEXTRA")) + 1);
    const auto ptx = rewrite::compile_to_ptx("#define EXTRA " + extra + "\n" + g.source);
    ASSERT_TRUE(ptx.ok()) << ptx.error().to_string() << g.source;
    const auto expected = rewrite::run_ptx(*ptx, g.application);
    ASSERT_TRUE(expected.ok()) << expected.error().to_string();
    auto compiled = zoo::OpenClProgram::build(g.source, g.options, "warpmux");
    ASSERT_TRUE(compiled.ok()) << compiled.error().to_string() << g.source;
    const auto got = compiled->run(g.application);
    ASSERT_TRUE(got.ok()) << got.error().to_string();
    EXPECT_EQ(rewrite::difference(g.application, *expected, *got), "") << g.source;
  }
}

}  // namespace
}  // namespace wm::runtime::test
