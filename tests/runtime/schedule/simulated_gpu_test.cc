// The scheduler on the CUDA backend and the simulated driver: kernels run as workers on SMs that the policy gives them.
#include <chrono>
#include <functional>
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

// to[i] = from[n - 1 - i] + 1 for n items: the result of one group is the input of another one.
constexpr const char* kReverse = R"(
ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mov.u32 %r5, %nctaid.x; mad.lo.s32 %r4, %r2, %r3, %r1; mul.lo.s32 %r6, %r5, %r3; sub.s32 %r6, %r6, %r4;
sub.s32 %r6, %r6, 1; mul.wide.u32 %d3, %r6, 4; add.s64 %d1, %d1, %d3; ld.global.u32 %r7, [%d1]; add.s32 %r7, %r7, 1;
mul.wide.u32 %d3, %r4, 4; add.s64 %d2, %d2, %d3; st.global.u32 [%d2], %r7; ret;)";

std::unique_ptr<policy::Policy> policy_of(const char* text) {
  auto policy = policy::make(*policy::choose(text), machine_capabilities(true), "simulated GPU");
  EXPECT_TRUE(policy.ok()) << policy.error().what;
  return std::move(*policy);
}

struct WorkersOnOneSm {
  static constexpr std::uint32_t kGroups = 700, kItems = 32;

  explicit WorkersOnOneSm(std::unique_ptr<policy::Policy> policy) {
    auto device = cuda::Device::open(*cuda::load_driver(binary_path("lib/simulated/libcuda.so.1")));
    backend = std::make_unique<cuda::CudaBackend>(std::move(*device), std::make_unique<cuda::PtxFrontEnd>());
    backend->make_workers();
    AdmissionOptions options;
    options.short_launch = 0;
    options.real_sms = true;
    options.capped_launch = 1e6;
    scheduler = std::make_unique<Scheduler>(*backend, counts, std::move(policy), options);
    Compilation& compiler = backend->compilation();
    program = compiler
                  .program_from_source(cuda::opencl_ptx(
                      cuda::ptx_kernel("number", ".param .u64 .ptr .global .align 4 out", kNumber) +
                      cuda::ptx_kernel("reverse",
                                       ".param .u64 .ptr .global .align 4 from, .param .u64 .ptr .global .align 4 to",
                                       kReverse)))
                  .object;
    EXPECT_EQ(compiler.build(*program, ""), status::kSuccess) << compiler.build_log(*program);
  }

  ~WorkersOnOneSm() {
    for (const auto& client : clients) {
      client->gone = true;
      scheduler->drop(*client);
    }
    scheduler.reset();
  }

  struct ClientRun {
    std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>();
    std::shared_ptr<Queue> queue = std::make_shared<Queue>();
    MemoryHandle out;
  };
  ClientRun start() {
    ClientRun run;
    clients.push_back(run.client);
    run.queue->handle = backend->allocation().create_queue(true, false).object;
    run.queue->in_order = true;
    run.queue->number = ++queues;
    run.out = buffer();
    return run;
  }
  [[nodiscard]] MemoryHandle buffer() const {
    return backend->allocation().create_buffer({0, std::size_t{kGroups} * kItems * 4, {}}).object;
  }
  void number(const ClientRun& run) { launch(run, "number", {run.out}); }
  // `group_nanoseconds`: the known time of a group; 0: none.
  void launch(const ClientRun& run, const char* kernel, const std::vector<MemoryHandle>& buffers,
              double group_nanoseconds = 0) {
    auto command = make_launch(run.client, run.queue, kernel, {.group_nanoseconds = group_nanoseconds});
    LaunchPlan& plan = *command->launch;
    plan.kernel->handle = backend->compilation().create_kernel(*program, kernel).object;
    const KernelInfo info = backend->compilation().properties(*plan.kernel->handle);
    ASSERT_TRUE(info.workers && info.workers->refusal.empty());
    auto form = std::make_shared<KernelForm>();
    form->workers = plan.kernel->handle;
    form->max_items = info.workers->max_items;
    plan.form = form;
    plan.global = {std::size_t{kGroups} * kItems, 1, 1};
    plan.local = {kItems, 1, 1};
    plan.arguments.clear();
    for (const MemoryHandle& memory : buffers) {
      LaunchPlan::Value value;
      value.kind = ArgumentKind::memory;
      value.size = 8;
      value.memory = std::make_shared<Memory>();
      value.memory->handle = memory;
      plan.arguments.push_back(value);
    }
    scheduler->add(command, {});
  }
  void expect_values(const ClientRun& run, const std::function<std::uint32_t(std::uint32_t)>& expected) {
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
      ASSERT_EQ(values[i], expected(i)) << i;
    }
  }
  void expect_numbers(const ClientRun& run) {
    expect_values(run, [](std::uint32_t i) { return kGroups * 1000 + i / kItems; });
  }
  // An even number of launches, each of which needs what all groups of the one before wrote. The first
  // of `period` launches is of unknown length, and the others are short.
  void reverse(const ClientRun& run, std::uint32_t launches, std::uint32_t period = 1) {
    reverse_in_turn(std::span(&run, 1), launches, period);
  }
  void reverse_in_turn(std::span<const ClientRun> runs, std::uint32_t launches, std::uint32_t period) {
    std::vector<std::vector<MemoryHandle>> buffers;
    for (const ClientRun& run : runs) {
      buffers.push_back({run.out, buffer()});
      backend->allocation().wipe(*run.queue->handle, *run.out);
      backend->submission().finish(*run.queue->handle);
    }
    for (std::uint32_t i = 0; i < launches; ++i) {
      for (std::size_t r = 0; r < runs.size(); ++r) {
        launch(runs[r], "reverse", buffers[r], i % period == 0 ? 0 : 1);
        std::swap(buffers[r][0], buffers[r][1]);
      }
    }
  }

  ObjectCounts counts;
  std::unique_ptr<cuda::CudaBackend> backend;
  std::unique_ptr<Scheduler> scheduler;
  ProgramHandle program;
  std::vector<std::shared_ptr<FakeClient>> clients;
  std::uint64_t queues = 0;
};

struct SimulatedGpu : WorkersOnOneSm, testing::TestWithParam<const char*> {
  SimulatedGpu() : WorkersOnOneSm(policy_of(GetParam())) {}
};

TEST_P(SimulatedGpu, WorkersOfTwoClientsCompleteTheirLaunches) {
  const ClientRun a = start(), b = start();
  for (int i = 0; i < 4; ++i) {
    number(a);
    number(b);
  }
  expect_numbers(a);
  expect_numbers(b);
}

TEST_P(SimulatedGpu, LaunchesOfAQueueFollowEachOther) {
  const ClientRun a = start(), b = start();
  reverse(a, 30);
  reverse(b, 30);
  expect_values(a, [](std::uint32_t) { return 30U; });
  expect_values(b, [](std::uint32_t) { return 30U; });
}

TEST_P(SimulatedGpu, LaunchesOfAQueueFollowEachOtherInBothForms) {
  const ClientRun a = start();
  reverse(a, 60, 20);
  expect_values(a, [](std::uint32_t) { return 60U; });
  const ClientStatistics statistics = scheduler->statistics(*a.client);
  EXPECT_GT(statistics.unmodified_short, 0U);
  EXPECT_EQ(statistics.as_workers + statistics.unmodified_short, 60U);
}

// Launches of the client that went are on the device, some behind others.
TEST_P(SimulatedGpu, AClientThatGoesDoesNotHoldUpOthers) {
  const ClientRun a = start(), b = start();
  reverse(a, 20);
  reverse(b, 20);
  a.client->gone = true;
  scheduler->drop(*a.client);
  expect_values(b, [](std::uint32_t) { return 20U; });
}

// On the functional simulator every block is on SM 0, so that policies which keep SMs from a kernel are left to the
// contract suite.
INSTANTIATE_TEST_SUITE_P(Policies, SimulatedGpu, testing::Values("accelos", "moving_shares"),
                         [](const auto& info) { return std::string(info.param); });

// Gives each kernel a quota that lasts for a part of a launch, and more when it is spent, a while later.
struct SmallQuotas final : policy::Policy {
  void on(const policy::KernelArrived& e, policy::Machine& machine) override {
    if (machine.residents({0})[e.kernel.index].quota == policy::kNoQuota)
      machine.set_quota({0}, e.kernel, kInstructions);
    if (wakes++ == 0) machine.wake_at(machine.now() + Cycles{kWait}, 0);
  }
  void on(const policy::Wake&, policy::Machine& machine) override {
    // Launches take longer while they wait for quota, and their groups count as more instructions then.
    const std::int64_t more = kInstructions << std::min(wakes++ / 8, 20);
    for (const policy::Kernel& k : machine.kernels()) {
      if (machine.residents({0})[k.id.index].quota <= 0) machine.add_quota({0}, k.id, more);
    }
    machine.wake_at(machine.now() + Cycles{kWait}, 0);
  }
  static constexpr std::int64_t kInstructions = 450'000'000;  // 450 groups of a kernel whose time is not known
  static constexpr std::uint64_t kWait = 1'000'000;
  int wakes = 0;
};

// Workers leave when they have waited for quota in vain. The launches behind theirs are on the device then.
TEST(SimulatedGpuQuotas, LaunchesWaitForThoseBeforeThem) {
  WorkersOnOneSm gpu(std::make_unique<SmallQuotas>());
  const auto a = gpu.start(), b = gpu.start();
  gpu.reverse(a, 10);
  gpu.reverse(b, 10);
  gpu.expect_values(a, [](std::uint32_t) { return 10U; });
  gpu.expect_values(b, [](std::uint32_t) { return 10U; });
}

// Caps that come and go with every 30 launches of a client, more than are on the device as workers at a time.
struct ChangingCaps final : policy::Policy {
  void on(const policy::KernelSetChanged&, policy::Machine& machine) override {
    if (machine.kernels().size() < 2) return;
    const bool has_caps = machine.kernels()[0].launch / 30 % 2 == 0;
    for (const policy::Kernel& k : machine.kernels()) {
      for (const policy::Sm& sm : machine.sms()) machine.cap(sm.id, k.id, has_caps ? 2 + k.id.index : policy::kNoCap);
    }
  }
};

// Launches go from workers to unmodified ones and back, and each needs the results of the one before it.
TEST(SimulatedGpuCaps, LaunchesOfAQueueFollowEachOtherInBothForms) {
  WorkersOnOneSm gpu(std::make_unique<ChangingCaps>());
  const std::vector runs{gpu.start(), gpu.start()};
  gpu.reverse_in_turn(runs, 100, 10);
  for (const auto& run : runs) gpu.expect_values(run, [](std::uint32_t) { return 100U; });
  for (const auto& run : runs) EXPECT_GT(gpu.scheduler->statistics(*run.client).unmodified_capped, 0U);
}

}  // namespace
}  // namespace wm::runtime::test
