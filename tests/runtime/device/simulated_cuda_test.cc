// The CUDA backend on the simulated CUDA driver: programs are adapted, loaded and run, and leave what they should.
//
// The driver is the library of this build, loaded by its path: a host's own driver is never used.
#include <array>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

#include "runtime/device/cuda/backend.h"
#include "runtime/device/ptx_front_end.h"
#include "runtime/device/simulated_backend.h"
#include "runtime/device/worker_tables.h"
#include "tree.h"

namespace wm::runtime::cuda {
namespace {

std::string library() { return binary_path("lib/simulated/libcuda.so.1"); }

// out[i + offset] = sum over the group of scratch, which holds factor + local id.
std::string sum_kernel() {
  return ptx_kernel("sum",
                    ".param .u64 .ptr .global .align 4 out, .param .u64 .ptr .shared .align 4 scratch, "
                    ".param .u32 factor",
                    R"(
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [scratch]; ld.param.u32 %r1, [factor];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.b32 %r5, %envreg3;
mad.lo.s32 %r6, %r3, %r4, %r2; add.s32 %r6, %r6, %r5;
add.s32 %r7, %r1, %r2;
mul.wide.u32 %d3, %r2, 4; add.s64 %d4, %d2, %d3; st.shared.u32 [%d4], %r7;
bar.sync 0;
mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u64 %d5, %d2;
again: ld.shared.u32 %r10, [%d5]; add.s32 %r8, %r8, %r10; add.s64 %d5, %d5, 4;
add.s32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %r4; @%p1 bra again;
mul.wide.u32 %d6, %r6, 4; add.s64 %d7, %d1, %d6; st.global.u32 [%d7], %r8; ret;)");
}

std::string fault_kernel() {
  return ptx_kernel("fault", ".param .u64 .ptr .global .align 4 out", R"(
mov.u64 %d1, 64; mov.u32 %r1, 1; st.global.u32 [%d1], %r1; ret;)");
}

struct SimulatedCuda : SimulatedBackend {
  MemoryHandle buffer(std::size_t words) {
    const MemoryHandle made = backend->allocation().create_buffer({0, words * 4, {}}).object;
    backend->allocation().wipe(*queue, *made);
    return made;
  }
  std::vector<std::uint32_t> read(const MemoryHandle& memory, std::size_t words) {
    std::vector<std::uint32_t> values(words);
    EXPECT_EQ(backend->submission().submit(
                  *queue, BufferTransfer{false, memory, 0, std::as_writable_bytes(std::span(values)), true}, nullptr),
              status::kSuccess);
    return values;
  }
  // The kernel `sum` with groups of 8 items.
  Status launch_sum(const KernelObject& sum, const MemoryObject& out, std::size_t groups, const LaunchSharing& sharing,
                    EventHandle* event = nullptr, std::optional<WorkerLaunch> workers = std::nullopt,
                    std::span<const EventHandle> after = {}) {
    const std::uint32_t factor = 100;
    const KernelArgument arguments[] = {{ArgumentKind::memory, 8, nullptr, &out, nullptr},
                                        {ArgumentKind::local, 32, nullptr, nullptr, nullptr},
                                        {ArgumentKind::value, 4, &factor, nullptr, nullptr}};
    KernelLaunch launch;
    launch.kernel = &sum;
    launch.arguments = arguments;
    launch.offset = {2, 0, 0};
    launch.global = {groups * 8, 1, 1};
    launch.local = Size3{8, 1, 1};
    launch.sharing = sharing;
    launch.workers = workers;
    launch.after = after;
    return backend->submission().launch(*queue, launch, event);
  }
  // As workers, of 50 groups, once the table is written.
  Status launch_workers(const KernelObject& sum, const MemoryObject& out, const WorkerLaunch& workers,
                        WorkerTable& table) {
    std::vector<EventHandle> after;
    if (const EventHandle written = table.ready_event()) after.push_back(written);
    return launch_sum(sum, out, 50, {}, nullptr, workers, after);
  }
  static WorkerTable::Counts counts_of(WorkerTable& table, const LaunchCounters& launch) {
    WorkerTable::Counts counts;
    table.ask(launch);
    while (!table.answered(counts)) {
    }
    return counts;
  }
  static std::uint32_t total(const std::vector<std::uint32_t>& by_sm) {
    return std::accumulate(by_sm.begin(), by_sm.end(), 0U);
  }
  static std::vector<std::uint32_t> expected_sum(std::size_t groups) {
    std::vector<std::uint32_t> values(groups * 8 + 2, 800 + 28);
    values[0] = values[1] = 0;
    return values;
  }
};

TEST_F(SimulatedCuda, TheDriverIsTheLibraryOfThisBuild) {
  const auto calls = load_driver(library());
  ASSERT_TRUE(calls);
  Dl_info info{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(calls->init), &info), 0);
  EXPECT_EQ(std::string(info.dli_fname), library());
  EXPECT_NE(backend->device_name().find("simulated"), std::string::npos) << backend->device_name();
  EXPECT_TRUE(backend->is_alive());
}

TEST_F(SimulatedCuda, AProgramWithLocalMemoryAndAnOffsetLeavesItsSums) {
  const KernelHandle sum = kernel(sum_kernel(), "sum");
  ASSERT_TRUE(sum);
  const MemoryHandle out = buffer(34);
  EventHandle event = nullptr;
  ASSERT_EQ(launch_sum(*sum, *out, 4, {}, &event), status::kSuccess);
  backend->submission().finish(*queue);
  EXPECT_EQ(backend->submission().state(event), status::kComplete);
  const DeviceTimes times = backend->submission().times(event, true);
  EXPECT_GE(times.ended, times.started);
  EXPECT_GE(times.started, times.queued);
  backend->submission().release(event);
  EXPECT_EQ(read(out, 34), expected_sum(4));
}

TEST_F(SimulatedCuda, EveryFormOfAKernelLeavesTheSameMemory) {
  const KernelHandle sum = kernel(sum_kernel(), "sum");
  ASSERT_NE(of(*sum).gated, nullptr);
  const LaunchSharing forms[] = {
      {.unit_share = 0.5}, {.max_groups_per_unit = 1}, {.yields = true}, {.priority = 3, .holds_gates = true}};
  for (const LaunchSharing& form : forms) {
    const MemoryHandle out = buffer(34);
    ASSERT_EQ(launch_sum(*sum, *out, 4, form), status::kSuccess);
    EXPECT_EQ(read(out, 34), expected_sum(4));
  }
}

TEST_F(SimulatedCuda, WorkersLeaveTheSameMemoryAndCountWhatTheyDid) {
  EXPECT_NE(backend->compilation().properties(*kernel(sum_kernel(), "sum")).workers->refusal, "") << "not asked for";
  backend->make_workers();
  const KernelHandle sum = kernel(sum_kernel(), "sum");
  const KernelInfo info = backend->compilation().properties(*sum);
  ASSERT_TRUE(info.workers.has_value());
  EXPECT_EQ(info.workers->refusal, "");
  const auto tables = backend->make_worker_tables();
  const auto table = tables->take();
  std::vector<std::uint32_t> limits(backend->compute_units(), 3);
  const std::vector<std::uint32_t> any(limits.size(), 0);
  ASSERT_EQ(table->begin({limits, any}), status::kSuccess);
  const MemoryHandle out = buffer(402);
  const auto first = tables->take_counters(), second = tables->take_counters();
  WorkerLaunch workers{.table = &table->memory(), .counters = first.get(), .workers = 5, .chunk = 2};
  ASSERT_EQ(launch_workers(*sum, *out, workers, *table), status::kSuccess);
  // The next launch of the queue needs no word of the process.
  workers.counters = second.get();
  workers.before = first.get();
  workers.groups_before = 50;
  ASSERT_EQ(launch_workers(*sum, *out, workers, *table), status::kSuccess);
  EXPECT_EQ(read(out, 402), expected_sum(50));
  EXPECT_TRUE(first->is_complete() && second->is_complete());
  const WorkerTable::Counts counts = counts_of(*table, *second);
  EXPECT_EQ(counts.launch, second.get());
  EXPECT_GE(counts.taken, 50U);
  EXPECT_EQ(counts.started, 5U);
  EXPECT_EQ(total(counts.groups), 100U);
  EXPECT_EQ(total(counts.workers), 0U);
  // No SM may have workers: nothing is taken.
  ASSERT_EQ(table->begin({any, any}), status::kSuccess);
  const auto third = tables->take_counters();
  workers = {.table = &table->memory(), .counters = third.get(), .workers = 5, .chunk = 2};
  ASSERT_EQ(launch_workers(*sum, *out, workers, *table), status::kSuccess);
  backend->submission().finish(*queue);
  EXPECT_FALSE(third->is_complete());
  EXPECT_EQ(total(counts_of(*table, *third).groups), 0U);
}

TEST_F(SimulatedCuda, WorkersBehindALaunchThatIsNotCompleteTakeNothing) {
  backend->make_workers();
  const KernelHandle sum = kernel(sum_kernel(), "sum");
  const auto tables = backend->make_worker_tables();
  const auto table = tables->take();
  const std::vector<std::uint32_t> limits(backend->compute_units(), 3), any(limits.size(), 0);
  const std::vector<std::uint32_t> few(limits.size(), 1 + 6);
  ASSERT_EQ(table->begin({limits, few}), status::kSuccess);
  const MemoryHandle out = buffer(402), other = buffer(402);
  const auto first = tables->take_counters(), second = tables->take_counters();
  WorkerLaunch workers{.table = &table->memory(), .counters = first.get(), .workers = 3};
  WorkerLaunch behind{.table = &table->memory(), .counters = second.get(), .workers = 3};
  behind.before = first.get();
  behind.groups_before = 50;
  ASSERT_EQ(launch_workers(*sum, *out, workers, *table), status::kSuccess);
  ASSERT_EQ(launch_workers(*sum, *other, behind, *table), status::kSuccess);
  backend->submission().finish(*queue);
  EXPECT_FALSE(first->is_complete());
  EXPECT_FALSE(second->is_complete());
  EXPECT_EQ(total(counts_of(*table, *first).groups), 3 * 6U) << "the quotas of the first one's three SMs";
  EXPECT_EQ(read(other, 402), std::vector<std::uint32_t>(402, 0));
  // Other workers complete the first, and the second starts again.
  ASSERT_EQ(table->change({limits, any}), status::kSuccess);
  workers.beside_queue = true;
  ASSERT_EQ(launch_workers(*sum, *out, workers, *table), status::kSuccess);
  ASSERT_EQ(launch_workers(*sum, *other, behind, *table), status::kSuccess);
  EXPECT_EQ(read(out, 402), expected_sum(50));
  EXPECT_TRUE(first->is_complete());
  EXPECT_FALSE(second->is_complete()) << "workers beside the queue took part in the first";
  behind.before = nullptr;
  ASSERT_EQ(launch_workers(*sum, *other, behind, *table), status::kSuccess);
  EXPECT_EQ(read(other, 402), expected_sum(50));
  EXPECT_TRUE(second->is_complete());
}

TEST_F(SimulatedCuda, CountersAreZeroAgainWhenTheyWereUsedBefore) {
  backend->make_workers();
  const KernelHandle sum = kernel(sum_kernel(), "sum");
  const auto tables = backend->make_worker_tables();
  const auto table = tables->take();
  const std::vector<std::uint32_t> limits(backend->compute_units(), 3), any(limits.size(), 0);
  ASSERT_EQ(table->begin({limits, any}), status::kSuccess);
  const MemoryHandle out = buffer(402);
  // More than three blocks of counters.
  std::shared_ptr<LaunchCounters> used = tables->take_counters();
  const LaunchCounters* const first = used.get();
  bool again = false;
  for (int i = 0; i < 10'000 && !again; ++i) {
    const WorkerLaunch workers{.table = &table->memory(), .counters = used.get(), .workers = 3};
    if (i % 2000 == 0) {
      EXPECT_EQ(launch_workers(*sum, *out, workers, *table), status::kSuccess);
      EXPECT_EQ(read(out, 402), expected_sum(50));
      EXPECT_TRUE(used->is_complete());
    }
    used.reset();
    used = tables->take_counters();
    ASSERT_NE(used, nullptr);
    EXPECT_FALSE(used->is_complete());
    again = used.get() == first;
  }
  ASSERT_TRUE(again);
  const WorkerLaunch workers{.table = &table->memory(), .counters = used.get(), .workers = 3};
  backend->allocation().wipe(*queue, *out);
  ASSERT_EQ(launch_workers(*sum, *out, workers, *table), status::kSuccess);
  EXPECT_EQ(read(out, 402), expected_sum(50));
}

// All workers run on one simulated SM. They wait for more, and leave in the end.
TEST_F(SimulatedCuda, WorkersBeginNoMoreGroupsThanTheirQuota) {
  backend->make_workers();
  const KernelHandle sum = kernel(sum_kernel(), "sum");
  const auto tables = backend->make_worker_tables();
  const auto table = tables->take();
  const auto counters = tables->take_counters();
  const std::vector<std::uint32_t> limits(backend->compute_units(), 3);
  const auto quotas = [&](std::uint32_t groups) { return std::vector<std::uint32_t>(limits.size(), 1 + groups); };
  ASSERT_EQ(table->begin({limits, quotas(6)}), status::kSuccess);
  const MemoryHandle out = buffer(402);
  const auto run = [&] {
    const WorkerLaunch workers{.table = &table->memory(), .counters = counters.get(), .workers = 3};
    ASSERT_EQ(launch_workers(*sum, *out, workers, *table), status::kSuccess);
    backend->submission().finish(*queue);
  };
  for (const std::uint32_t groups : {6U, 16U}) {
    ASSERT_EQ(table->change({limits, quotas(groups)}), status::kSuccess);
    run();
    const WorkerTable::Counts counts = counts_of(*table, *counters);
    for (std::size_t sm = 0; sm < counts.groups.size(); ++sm) {
      EXPECT_EQ(counts.groups[sm], sm < 3 ? groups : 0) << "each worker is on an SM of its own";
      EXPECT_EQ(counts.begun[sm], sm < 3 ? groups : 0);
    }
    EXPECT_EQ(total(counts.workers), 0U) << "they have left";
    EXPECT_FALSE(counters->is_complete());
  }
  ASSERT_EQ(table->change({limits, std::vector<std::uint32_t>(limits.size(), 0)}), status::kSuccess);
  run();
  EXPECT_EQ(read(out, 402), expected_sum(50));
}

TEST_F(SimulatedCuda, TransfersAndFillsReachTheDevice) {
  const MemoryHandle a = buffer(16), b = buffer(16);
  std::vector<std::uint32_t> values(16);
  std::iota(values.begin(), values.end(), 5U);
  EventHandle event = nullptr;
  Submission& submission = backend->submission();
  ASSERT_EQ(
      submission.submit(*queue, BufferTransfer{true, a, 0, std::as_writable_bytes(std::span(values)), false}, &event),
      status::kSuccess);
  ASSERT_EQ(submission.submit(*queue, BufferCopy{a, b, 8, 0, 32}, nullptr), status::kSuccess);
  const std::array<std::uint32_t, 2> pattern{1, 2};
  ASSERT_EQ(submission.submit(*queue, BufferFill{b, std::as_bytes(std::span(pattern)), 48, 16}, nullptr),
            status::kSuccess);
  EXPECT_EQ(read(b, 16), (std::vector<std::uint32_t>{7, 8, 9, 10, 11, 12, 13, 14, 0, 0, 0, 0, 1, 2, 1, 2}));
  submission.finish(*queue);
  EXPECT_EQ(submission.state(event), status::kComplete);
  submission.release(event);
}

TEST_F(SimulatedCuda, ControlWordsHaveTheirInitialValues) {
  const auto words = backend->make_control_words();
  const auto queue_word = words->take(ControlWordPool::Kind::queue);
  const auto control = words->take(ControlWordPool::Kind::control);
  ASSERT_TRUE(queue_word && control);
  EXPECT_EQ(queue_word->get(), 0U);
  EXPECT_EQ(control->get(), ~0U);
  ASSERT_EQ(control->set(3), status::kSuccess);
  EXPECT_EQ(control->get(), 3U);
}

TEST_F(SimulatedCuda, WrongPtxFailsTheBuildWithTheReason) {
  Compilation& compiler = backend->compilation();
  const ProgramHandle wrong = compiler.program_from_source("no PTX").object;
  EXPECT_EQ(compiler.build(*wrong, ""), status::kBuildProgramFailure);
  EXPECT_NE(compiler.build_log(*wrong).find("cannot be loaded"), std::string::npos);
}

// In a process of its own: a context that had a fault takes no more work, and a process has one.
TEST_F(SimulatedCuda, AFaultFailsForItsClientAndIsFound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run_fault = [this] {
    const KernelHandle fault = kernel(fault_kernel(), "fault");
    const MemoryHandle out = buffer(1);
    const KernelArgument argument{ArgumentKind::memory, 8, nullptr, out.get(), nullptr};
    KernelLaunch launch;
    launch.kernel = fault.get();
    launch.arguments = std::span(&argument, 1);
    launch.local = Size3{1, 1, 1};
    EventHandle event = nullptr;
    const bool launched = backend->submission().launch(*queue, launch, &event) == status::kSuccess;
    backend->submission().finish(*queue);
    // The launch itself may report the fault, where the kernel has run before it returns.
    Status state = launched ? status::kRunning : status::kOutOfResources;
    while (state == status::kRunning) state = backend->submission().state(event);
    if (state >= 0) std::_Exit(1);
    std::_Exit(backend->is_alive() ? 2 : 0);
  };
  EXPECT_EXIT(run_fault(), testing::ExitedWithCode(0), "out of bounds");
}

}  // namespace
}  // namespace wm::runtime::cuda
