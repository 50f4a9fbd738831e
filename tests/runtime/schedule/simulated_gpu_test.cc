// The scheduler on the CUDA backend and the simulated driver: kernels run as workers on SMs that the policy gives them.
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

#include "policy/registry.h"
#include "runtime/device/cuda/backend.h"
#include "runtime/device/ptx_front_end.h"
#include "runtime/schedule/fixture.h"
#include "runtime/schedule/scheduler.h"
#include "tree.h"

namespace wm::runtime::test {
namespace {

// out[global id] = number of groups * 1000 + group.
constexpr const char* kNumber = R"(
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r5, %nctaid.x;
mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.u32 %d2, %r4, 4; add.s64 %d1, %d1, %d2;
mad.lo.s32 %r6, %r5, 1000, %r2; st.global.u32 [%d1], %r6; ret;)";

struct SimulatedGpu : testing::TestWithParam<const char*> {
  static constexpr std::uint32_t kGroups = 700, kItems = 32;

  SimulatedGpu() {
    auto device = cuda::Device::open(*cuda::load_driver(binary_path("lib/simulated/libcuda.so.1")));
    backend = std::make_unique<cuda::CudaBackend>(std::move(*device), std::make_unique<cuda::PtxFrontEnd>());
    backend->make_workers();
    auto policy = policy::make(*policy::choose(GetParam()), machine_capabilities(true), "simulated GPU");
    EXPECT_TRUE(policy.ok()) << policy.error().what;
    AdmissionOptions options;
    options.short_launch = 0;
    options.real_sms = true;
    scheduler = std::make_unique<Scheduler>(*backend, counts, std::move(*policy), options);
    Compilation& compiler = backend->compilation();
    program = compiler
                  .program_from_source(
                      cuda::opencl_ptx(cuda::ptx_kernel("number", ".param .u64 .ptr .global .align 4 out", kNumber)))
                  .object;
    EXPECT_EQ(compiler.build(*program, ""), status::kSuccess) << compiler.build_log(*program);
  }

  ~SimulatedGpu() override {
    for (const auto& client : clients) {
      client->gone = true;
      scheduler->drop(*client);
    }
    scheduler.reset();
  }

  struct Run {
    std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>();
    std::shared_ptr<Queue> queue = std::make_shared<Queue>();
    MemoryHandle out;
  };
  Run start() {
    Run run;
    clients.push_back(run.client);
    run.queue->handle = backend->allocation().create_queue(true, false).object;
    run.queue->in_order = true;
    run.queue->number = ++queues;
    run.out = backend->allocation().create_buffer({0, std::size_t{kGroups} * kItems * 4, {}}).object;
    launch(run);
    return run;
  }
  void launch(const Run& run) {
    auto command = make_launch(run.client, run.queue, "number");
    LaunchPlan& plan = *command->launch;
    plan.kernel->handle = backend->compilation().create_kernel(*program, "number").object;
    const KernelInfo info = backend->compilation().properties(*plan.kernel->handle);
    ASSERT_TRUE(info.workers && info.workers->refusal.empty());
    auto form = std::make_shared<KernelForm>();
    form->workers = plan.kernel->handle;
    form->max_items = info.workers->max_items;
    plan.form = form;
    plan.global = {std::size_t{kGroups} * kItems, 1, 1};
    plan.local = {kItems, 1, 1};
    LaunchPlan::Value out;
    out.kind = ArgumentKind::memory;
    out.size = 8;
    out.memory = std::make_shared<Memory>();
    out.memory->handle = run.out;
    plan.arguments = {out};
    scheduler->add(command, {});
  }
  void expect_results(const Run& run) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (scheduler->statistics(*run.client).outstanding != 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const ClientStatistics statistics = scheduler->statistics(*run.client);
    ASSERT_EQ(statistics.outstanding, 0U);
    EXPECT_GT(statistics.as_workers, 0U);
    std::vector<std::uint32_t> values(std::size_t{kGroups} * kItems);
    ASSERT_EQ(backend->submission().submit(
                  *run.queue->handle,
                  BufferTransfer{false, run.out, 0, std::as_writable_bytes(std::span(values)), true}, nullptr),
              status::kSuccess);
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], kGroups * 1000 + i / kItems) << i;
    }
  }

  ObjectCounts counts;
  std::unique_ptr<cuda::CudaBackend> backend;
  std::unique_ptr<Scheduler> scheduler;
  ProgramHandle program;
  std::vector<std::shared_ptr<FakeClient>> clients;
  std::uint64_t queues = 0;
};

TEST_P(SimulatedGpu, WorkersOfTwoClientsCompleteTheirLaunches) {
  const Run a = start(), b = start();
  for (int i = 0; i < 3; ++i) {
    launch(a);
    launch(b);
  }
  expect_results(a);
  expect_results(b);
}

// On the functional simulator every block is on SM 0, so that policies which keep SMs from a kernel are left to the
// contract suite.
INSTANTIATE_TEST_SUITE_P(Policies, SimulatedGpu, testing::Values("accelos", "moving_shares"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace wm::runtime::test
