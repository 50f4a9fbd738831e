// Goals as users know them, as rates: section 3.2 of the QoS paper.
#include "lab/run/goal.h"

#include "kernels/benchmark.h"
#include "lab/run/corun.h"
#include "ptx/parse.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::lab {
namespace {

Participant zoo_kernel(const char* name) {
  const zoo::Entry& entry = **zoo::find(name);
  Participant p;
  p.name = name;
  p.module = std::make_shared<ptx::Module>(*ptx::parse(entry.ptx, name));
  p.application = std::make_shared<gpu::Application>(entry.benchmark.make(zoo::Size::small).application);
  return p;
}

TEST(Goal, ATimeLessTransfersIsTheRateThatEndsInIt) {
  const gpu::GpuConfig gpu = sim::test_gpu("qos16");
  Participant p = zoo_kernel("hotspot");
  // The instructions that the machine in time executes, and the cycles the goal leaves for them.
  const auto isolated = measure_isolated(gpu, {p}, {});
  ASSERT_TRUE(isolated.ok());
  const Picoseconds transfers = transfer_time(gpu, *p.application);
  p.goal_time = transfers + Picoseconds{1'000'000'000};  // and a millisecond
  const double cycles = 1e-3 * gpu.sm.clock_mhz * 1e6;
  EXPECT_NEAR(**goal_ipc(gpu, p, 0), static_cast<double>((*isolated)[0].instructions) / cycles, 1e-6);
}

TEST(Goal, ARateIsTheTimeOfOneRun) {
  const gpu::GpuConfig gpu = sim::test_gpu("qos16");
  Participant timed = zoo_kernel("vecadd");
  Participant rated = timed;
  timed.goal_time = Picoseconds{4'000'000'000};
  rated.goal_rate = 250;
  EXPECT_DOUBLE_EQ(**goal_ipc(gpu, timed, 0), **goal_ipc(gpu, rated, 0));
}

TEST(Goal, TransfersTakeTheirLatencyAndTheirBytes) {
  gpu::GpuConfig gpu = sim::test_gpu("qos16");
  gpu.host = {.latency_ps = 1000, .bytes_per_microsecond = 4000};
  gpu::Application application;
  const auto buffer = application.add("b", std::vector<std::uint32_t>(1000));
  application.upload(buffer);
  application.download(buffer);
  EXPECT_EQ(transfer_time(gpu, application).count, 2 * (1000U + 1'000'000U));
}

TEST(Goal, ATimeTheTransfersUseUpIsAnError) {
  const gpu::GpuConfig gpu = sim::test_gpu("qos16");
  Participant p = zoo_kernel("vecadd");
  p.goal_time = transfer_time(gpu, *p.application);
  const auto goal = goal_ipc(gpu, p, 0);
  ASSERT_FALSE(goal.ok());
  EXPECT_NE(goal.error().to_string().find("transfers take"), std::string::npos);
}

TEST(Corun, ARunThatWouldNotEndOrNotBeginIsRefusedAtOnce) {
  const gpu::GpuConfig gpu = sim::test_gpu("qos16");
  Participant p = zoo_kernel("vecadd");
  const auto policy = *policy::choose("left_over");
  EXPECT_FALSE(corun(gpu, std::vector<Participant>(17, p), policy, {}).ok());
  CorunOptions options;
  options.match_instructions = true;
  EXPECT_FALSE(corun(gpu, {p}, policy, options).ok());
  p.launches = 0;
  EXPECT_FALSE(corun(gpu, {p}, policy, {}).ok());
}

TEST(Corun, SixteenKernelsRunTogetherAndAreRight) {
  gpu::GpuConfig gpu = sim::test_gpu("qos16");
  std::vector<Participant> all;
  for (int i = 0; i < 16; ++i) {
    Participant p = zoo_kernel(i % 2 == 0 ? "vecadd" : "hotspot");
    p.arrive = Cycles{static_cast<std::uint64_t>(i) * 500};
    const zoo::Case c = (*zoo::find(p.name))->benchmark.make(zoo::Size::small);
    p.verify = [c](const std::vector<std::vector<std::byte>>& buffers) {
      return zoo::verify(c, [&](gpu::BufferId id) -> const std::vector<std::byte>& { return buffers[id.index]; });
    };
    all.push_back(std::move(p));
  }
  CorunOptions options;
  options.isolated = false;
  const auto result = corun(gpu, all, *policy::choose("spatial"), options);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  for (const KernelResult& k : result->kernels) EXPECT_EQ(k.verified, true) << k.name;
}

}  // namespace
}  // namespace wm::lab
