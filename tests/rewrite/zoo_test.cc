// Every kernel of the zoo, rewritten and not, leaves the same buffers on an OpenCL device and in the executor.
#include <set>

#include "kernels/each_benchmark.h"
#include "kernels/opencl_runner.h"
#include "rewrite/worker_here.h"
#include "rewrite/workers.h"

namespace wm::rewrite {
namespace {

using zoo::Buffers;
using zoo::Case;
using zoo::Entry;

class ZooAsWorkers : public testing::TestWithParam<const Entry*> {};

// The first buffer of the application in which the two differ; empty when none does.
std::string difference(const gpu::Application& app, const Buffers& expected, const Buffers& got) {
  for (std::size_t i = 0; i < app.buffers.size(); ++i) {
    if (expected[i] != got[i]) return "buffer '" + app.buffers[i].name + "' differs";
  }
  return {};
}

TEST_P(ZooAsWorkers, LeaveTheSameBuffersOnOpenCl) {
  if (!zoo::have_opencl_device()) GTEST_SKIP() << "no OpenCL device";
  const Entry& entry = *GetParam();
  const auto reply = worker_here().rewrite({.source = std::string(entry.source), .options = "-cl-std=CL1.2"});
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  ASSERT_EQ(reply->refusal, "");
  for (const KernelReply& kernel : reply->kernels) EXPECT_TRUE(kernel.rewritten) << kernel.name << " " << kernel.reason;

  const Case c = entry.benchmark.make(zoo::size_asked_for());
  auto original = zoo::OpenClProgram::build(entry.source);
  ASSERT_TRUE(original.ok()) << original.error().to_string();
  const auto expected = original->run(c.application);
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();

  auto rewritten = zoo::OpenClProgram::build(reply->source, reply->options);
  ASSERT_TRUE(rewritten.ok()) << rewritten.error().to_string();
  for (const std::uint32_t workers : {1U, 2U, 7U, 64U}) {
    const auto app = with_workers(c.application, *reply, workers);
    ASSERT_TRUE(app.ok()) << app.error().to_string();
    const auto got = rewritten->run(*app);
    ASSERT_TRUE(got.ok()) << got.error().to_string();
    if (c.check) {  // an order that may differ
      const auto verdict = zoo::verify(c, zoo::contents_of(*got));
      EXPECT_TRUE(verdict.ok()) << workers << " workers: " << verdict.error().to_string();
    } else {
      EXPECT_EQ(difference(c.application, *expected, *got), "") << workers << " workers";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooAsWorkers, testing::ValuesIn(zoo::all_benchmarks()), zoo::benchmark_name);

}  // namespace
}  // namespace wm::rewrite
