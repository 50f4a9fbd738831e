// The CUDA backend's parts on a fake driver: what it asks of the driver, and what clients get.
#include <algorithm>
#include <cstring>
#include <future>
#include <gtest/gtest.h>

#include "runtime/device/cuda/allocation.h"
#include "runtime/device/cuda/compilation.h"
#include "runtime/device/cuda/submission.h"
#include "runtime/device/fake_cuda.h"
#include "runtime/device/ptx_front_end.h"

namespace wm::runtime::cuda {
namespace {

struct CudaTest : testing::Test {
  CudaTest() { launcher.prepare_gates(); }

  CudaKernel& kernel(bool gated = true) {
    driver.get_function(&function, nullptr, "k");
    driver.get_function(&gated_function, nullptr, "wm_gated_k");
    made.function = function;
    made.gated = gated ? gated_function : nullptr;
    made.max_threads = 1024;
    made.layout = {"k", {{true, false, 8, 1}, {false, true, 8, 4}, {false, true, 8, 4}, {false, false, 4, 1}}, true};
    return made;
  }
  Status launch(const LaunchSharing& sharing = {}) {
    const std::uint32_t number = 7;
    const KernelArgument arguments[] = {{ArgumentKind::memory, 8, nullptr, buffer.get(), nullptr},
                                        {ArgumentKind::local, 20, nullptr, nullptr, nullptr},
                                        {ArgumentKind::local, 64, nullptr, nullptr, nullptr},
                                        {ArgumentKind::value, 4, &number, nullptr, nullptr}};
    KernelLaunch l;
    l.kernel = &kernel();
    l.arguments = arguments;
    l.dimensions = 2;
    l.global = {64, 4, 1};
    l.local = Size3{16, 2, 1};
    l.offset = {3, 0, 0};
    l.sharing = sharing;
    return submission.launch(*queue, l, nullptr);
  }
  [[nodiscard]] long count(const std::string& what) const { return std::count(fake.log.begin(), fake.log.end(), what); }

  FakeCuda fake;
  DriverCalls driver = FakeCuda::install(fake);
  std::unique_ptr<Device> device = *Device::open(driver);
  HostMemory host{*device};
  Events events{*device, host};
  Launcher launcher{*device};
  PtxFrontEnd front_end;
  CudaAllocation allocation{*device, host, front_end};
  CudaSubmission submission{*device, host, events, launcher};
  QueueHandle queue = allocation.create_queue(true, false).object;
  MemoryHandle buffer = allocation.create_buffer({0, 256, {}}).object;
  Function function = nullptr, gated_function = nullptr;
  CudaKernel made;
};

TEST_F(CudaTest, LocalArgumentsAreOffsetsAndTheEnvironmentComesLast) {
  fake.parameters_of_launch = 5;
  ASSERT_EQ(launch(), status::kSuccess);
  ASSERT_EQ(fake.launches.size(), 1U);
  const FakeCuda::Launch& l = fake.launches[0];
  EXPECT_EQ(l.kernel, "k");
  EXPECT_EQ(l.blocks, 8U);
  EXPECT_EQ(l.threads, 32U);
  EXPECT_EQ(l.shared, 96U);  // 20 bytes, rounded up to 32, and 64
  EXPECT_EQ(l.parameters[1], 0U);
  EXPECT_EQ(l.parameters[2], 32U);
  EXPECT_EQ(l.parameters[3] & 0xffffffffU, 7U);
}

TEST_F(CudaTest, LimitedLaunchesTakeSharedMemorySoThatNoMoreGroupsFit) {
  ASSERT_EQ(launch({.unit_share = 0.5}), status::kSuccess);
  const unsigned group_bytes = fake.launches[0].shared + 1024;
  EXPECT_EQ((228U << 10) / group_bytes, 4U);
  fake.fit = 3;  // a half of three groups is one
  ASSERT_EQ(launch({.unit_share = 0.5}), status::kSuccess);
  EXPECT_EQ((228U << 10) / (fake.launches[1].shared + 1024), 1U);
  ASSERT_EQ(launch({.max_groups_per_unit = 5}), status::kSuccess);
  EXPECT_EQ(fake.launches[2].shared, 96U) << "only three fit anyway";
}

TEST_F(CudaTest, GroupsOccupyAtLeastTheSharedMemoryThatTheLaunchGivesThem) {
  ASSERT_EQ(launch({.min_group_bytes = 10'240}), status::kSuccess);
  EXPECT_EQ(fake.launches[0].shared + 1024, 10'240U) << "1 KB of it is the driver's";
  ASSERT_EQ(launch({.min_group_bytes = 1'024}), status::kSuccess);
  EXPECT_EQ(fake.launches[1].shared, 96U) << "it needs more";
  EXPECT_EQ(fake.carveouts, std::vector{100}) << "once for a kernel, so that others fit beside it";
}

TEST_F(CudaTest, YieldingLaunchesUseTheGatedKernelAndOthersHoldTheGate) {
  ASSERT_EQ(launch({.yields = true}), status::kSuccess);
  EXPECT_EQ(fake.launches[0].kernel, "wm_gated_k");
  EXPECT_EQ(count("write 1"), 0);
  fake.log.clear();
  ASSERT_EQ(launch({.holds_gates = true}), status::kSuccess);
  EXPECT_EQ(fake.launches[1].kernel, "k");
  EXPECT_EQ(fake.log, (std::vector<std::string>{"write 1", "launch", "write 0"}));
}

TEST_F(CudaTest, LaunchesOfAnotherPriorityWaitForThoseBeforeThem) {
  ASSERT_EQ(launch(), status::kSuccess);
  EXPECT_EQ(fake.launches[0].priority, 0);
  ASSERT_EQ(launch({.priority = 2}), status::kSuccess);
  EXPECT_EQ(fake.launches[1].priority, -2);
  EXPECT_EQ(count("wait"), 1);
  ASSERT_EQ(launch({.priority = 2}), status::kSuccess);
  EXPECT_EQ(count("wait"), 1);
  ASSERT_EQ(launch({.priority = 99}), status::kSuccess);
  EXPECT_EQ(fake.launches[3].priority, -5) << "the driver's greatest priority";
}

TEST_F(CudaTest, ThePlaceInAnOrderIsThePriorityOfTheStream) {
  ASSERT_EQ(launch({.priority = 2, .order_priority = 1}), status::kSuccess);
  EXPECT_EQ(fake.launches[0].priority, -1);
  ASSERT_EQ(launch({.order_priority = 0}), status::kSuccess);
  EXPECT_EQ(fake.launches[1].priority, 0);
}

TEST_F(CudaTest, GroupsOfDifferentSizesAreRefused) {
  KernelLaunch l;
  l.kernel = &kernel();
  l.global = {65, 1, 1};
  l.local = Size3{16, 1, 1};
  EXPECT_EQ(submission.launch(*queue, l, nullptr), status::kInvalidWorkGroupSize);
}

TEST_F(CudaTest, AReadThatDoesNotWaitArrivesWhenItsCompletionIsSeen) {
  const std::uint32_t value = 0x12345678;
  std::memcpy(reinterpret_cast<void*>(of(*buffer).address), &value, sizeof value);
  std::uint32_t got = 0;
  EventHandle event = nullptr;
  fake.complete = false;
  BufferTransfer read{false, buffer, 0, std::as_writable_bytes(std::span(&got, 1)), false};
  ASSERT_EQ(submission.submit(*queue, read, &event), status::kSuccess);
  EXPECT_EQ(submission.state(event), status::kRunning);
  EXPECT_EQ(got, 0U);
  fake.finish();
  EXPECT_EQ(submission.state(event), status::kComplete);
  EXPECT_EQ(got, value);
  submission.release(event);
}

TEST_F(CudaTest, AReadArrivesThatCompletedWithALaterCommandOfItsQueue) {
  const std::uint32_t value = 0x12345678;
  std::memcpy(reinterpret_cast<void*>(of(*buffer).address), &value, sizeof value);
  std::array<std::uint32_t, 2> got{};
  std::array<EventHandle, 2> events{};
  fake.complete = false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    BufferTransfer read{false, buffer, 0, std::as_writable_bytes(std::span(&got[i], 1)), false};
    ASSERT_EQ(submission.submit(*queue, read, &events[i]), status::kSuccess);
  }
  fake.finish();
  EXPECT_EQ(submission.state(events[1]), status::kComplete);
  for (const EventHandle event : events) submission.release(event);
  EXPECT_EQ(got[0], value) << "nobody asked about its own event";
  EXPECT_EQ(got[1], value);
}

TEST_F(CudaTest, RegisteredMemoryIsCopiedDirectly) {
  std::array<std::byte, 64> bytes{};
  const MemoryHandle pinned = allocation.pin(*queue, bytes);
  const auto before = count("pinned");
  EventHandle event = nullptr;
  ASSERT_EQ(submission.submit(*queue, BufferTransfer{true, buffer, 0, std::span(bytes).subspan(8, 16), false}, &event),
            status::kSuccess);
  EXPECT_EQ(count("pinned"), before);
  submission.release(event);
}

TEST_F(CudaTest, ACompletionIsSeenWithoutACallOfTheDriver) {
  EventHandle event = nullptr;
  fake.complete = false;
  ASSERT_EQ(submission.submit_marker(*queue, &event), status::kSuccess);
  fake.failure = 700;  // the driver would answer so
  EXPECT_EQ(submission.state(event), status::kRunning);
  fake.finish();
  EXPECT_EQ(submission.state(event), status::kComplete);
  submission.release(event);
}

TEST_F(CudaTest, ThreadsSubmitWhileTheDriverTellsTimesOfAnEvent) {
  const QueueHandle timed = allocation.create_queue(true, true).object;
  EventHandle first = nullptr, second = nullptr;
  ASSERT_EQ(submission.submit_marker(*timed, &first), status::kSuccess);
  fake.finish();
  ASSERT_EQ(submission.state(first), status::kComplete);
  std::future<Status> submitted;
  std::future_status seen = std::future_status::deferred;
  fake.on_elapsed = [&] {
    if (submitted.valid()) return;
    submitted = std::async(std::launch::async, [&] { return submission.submit_marker(*timed, &second); });
    seen = submitted.wait_for(std::chrono::seconds(10));
  };
  EXPECT_NE(submission.times(first, true).ended, 0U);
  EXPECT_EQ(seen, std::future_status::ready);
  ASSERT_TRUE(submitted.valid());
  EXPECT_EQ(submitted.get(), status::kSuccess);
  submission.release(first);
  submission.release(second);
}

TEST_F(CudaTest, AFaultIsReportedToTheClientThatWaits) {
  EventHandle event = nullptr;
  fake.complete = false;
  ASSERT_EQ(submission.submit_marker(*queue, &event), status::kSuccess);
  fake.failure = 700;  // CUDA_ERROR_ILLEGAL_ADDRESS
  Status state = submission.state(event);
  while (state == status::kRunning) state = submission.state(event);
  EXPECT_EQ(state, status::kOutOfResources);
  submission.release(event);
}

TEST_F(CudaTest, PatternsOfSeveralWordsFillTheBuffer) {
  const std::array<std::uint32_t, 3> pattern{1, 2, 3};
  ASSERT_EQ(submission.submit(*queue, BufferFill{buffer, std::as_bytes(std::span(pattern)), 4, 24}, nullptr),
            status::kSuccess);
  std::array<std::uint32_t, 8> got{};
  std::memcpy(got.data(), reinterpret_cast<void*>(of(*buffer).address), sizeof got);
  EXPECT_EQ(got, (std::array<std::uint32_t, 8>{0, 1, 2, 3, 1, 2, 3, 0}));
}

TEST_F(CudaTest, RectanglesAreCopiedRowByRow) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i + 1);
  RectBufferTransfer write{true, buffer, {1, 1, 0}, {4, 2, 1}, 16, 0, bytes};
  EventHandle event = nullptr;
  ASSERT_EQ(submission.submit(*queue, write, &event), status::kSuccess);
  const auto* at = reinterpret_cast<const std::byte*>(of(*buffer).address);
  EXPECT_EQ(at[17], std::byte{1});
  EXPECT_EQ(at[20], std::byte{4});
  EXPECT_EQ(at[33], std::byte{5});
  submission.release(event);
}

}  // namespace
}  // namespace wm::runtime::cuda
