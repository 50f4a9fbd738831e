// The zoo on an OpenCL device (PoCL on a CPU will do): kernels and references checked without our PTX or executor.
#include "kernels/every_benchmark.h"
#include "kernels/opencl_runner.h"

namespace wm::zoo {

namespace {

class OnOpenCl : public testing::TestWithParam<const Entry*> {
 protected:
  void SetUp() override {
    if (!have_opencl_device()) GTEST_SKIP() << "no OpenCL device";
  }
};

}  // namespace

TEST_P(OnOpenCl, GivesTheReferencesResults) {
  const Entry& entry = *GetParam();
  const Case c = entry.benchmark.make(size_asked_for());
  const auto buffers = run_on_opencl(entry.source, c.application);
  ASSERT_TRUE(buffers.ok()) << buffers.error().to_string();
  const Result<void> verdict = verify(c, contents_of(*buffers));
  EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
}

INSTANTIATE_TEST_SUITE_P(Zoo, OnOpenCl, testing::ValuesIn(all_benchmarks()), benchmark_name);

}  // namespace wm::zoo
