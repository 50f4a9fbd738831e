// Every kernel of the zoo, rewritten and not, leaves the same buffers on an OpenCL device and in the executor.
#include "kernels/every_benchmark.h"
#include "rewrite/machines.h"
#include "rewrite/workers.h"

namespace wm::rewrite {
namespace {

using zoo::Case;
using zoo::Entry;

Result<Reply> rewrite_all(const Entry& entry) {
  auto reply = worker_here().rewrite({.source = std::string(entry.source), .options = "-cl-std=CL1.2"});
  if (!reply) return reply;
  if (!reply->refusal.empty()) return Error{reply->refusal};
  for (const KernelReply& kernel : reply->kernels) {
    if (!kernel.rewritten) return Error{kernel.name + ": " + kernel.reason};
  }
  return reply;
}

// Runs the application through `run` with each number of workers, and compares the results.
template <typename Run>
void compare(const Case& c, const Reply& reply, const zoo::Buffers& expected, const Run& run) {
  for (const std::uint32_t workers : {1U, 2U, 7U, 64U}) {
    const auto app = with_workers(c.application, reply, workers);
    ASSERT_TRUE(app.ok()) << app.error().to_string();
    const Result<zoo::Buffers> got = run(*app);
    ASSERT_TRUE(got.ok()) << got.error().to_string();
    if (c.check) {  // an order that may differ
      const auto verdict = zoo::verify(c, zoo::contents_of(*got));
      EXPECT_TRUE(verdict.ok()) << workers << " workers: " << verdict.error().to_string();
    } else {
      EXPECT_EQ(difference(c.application, expected, *got), "") << workers << " workers";
    }
  }
}

void same_on_opencl(const Entry& entry) {
  const auto reply = rewrite_all(entry);
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  const Case c = entry.benchmark.make(zoo::size_asked_for());
  auto original = zoo::OpenClProgram::build(entry.source);
  ASSERT_TRUE(original.ok()) << original.error().to_string();
  const auto expected = original->run(c.application);
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();
  auto rewritten = zoo::OpenClProgram::build(reply->source, reply->options);
  ASSERT_TRUE(rewritten.ok()) << rewritten.error().to_string();
  compare(c, *reply, *expected, [&](const gpu::Application& app) { return rewritten->run(app); });
}

void same_as_ptx(const Entry& entry) {
  const auto reply = rewrite_all(entry);
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  const Case c = entry.benchmark.make(zoo::size_asked_for());
  const auto original = compile_to_ptx(std::string(entry.source));
  ASSERT_TRUE(original.ok()) << original.error().to_string();
  const auto expected = run_ptx(*original, c.application);
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();
  const auto rewritten = compile_to_ptx(reply->source);
  ASSERT_TRUE(rewritten.ok()) << rewritten.error().to_string();
  compare(c, *reply, *expected, [&](const gpu::Application& app) { return run_ptx(*rewritten, app); });
}

// One with barriers and local memory, one with atomics and several kernels: the rest takes minutes.
class ZooAsWorkers : public testing::TestWithParam<const char*> {};

TEST_P(ZooAsWorkers, LeaveTheSameBuffersOnOpenCl) {
  if (!zoo::have_opencl_device()) GTEST_SKIP() << "no OpenCL device";
  same_on_opencl(**zoo::find(GetParam()));
}
TEST_P(ZooAsWorkers, LeaveTheSameBuffersAsPtx) { same_as_ptx(**zoo::find(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Zoo, ZooAsWorkers, testing::Values("sgemm", "atomics"));

class LongZooAsWorkers : public testing::TestWithParam<const Entry*> {};

TEST_P(LongZooAsWorkers, LeaveTheSameBuffersOnOpenCl) {
  if (!zoo::have_opencl_device()) GTEST_SKIP() << "no OpenCL device";
  same_on_opencl(*GetParam());
}
TEST_P(LongZooAsWorkers, LeaveTheSameBuffersAsPtx) { same_as_ptx(*GetParam()); }

INSTANTIATE_TEST_SUITE_P(Zoo, LongZooAsWorkers, testing::ValuesIn(zoo::all_benchmarks()), zoo::benchmark_name);

}  // namespace
}  // namespace wm::rewrite
