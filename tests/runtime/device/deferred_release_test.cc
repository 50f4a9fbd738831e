// Memory is given back to the driver while nothing runs on the device, or when memory is requested.
#include "runtime/device/deferred_release.h"

#include <gtest/gtest.h>

#include "runtime/device/null_opencl.h"
#include "runtime/device/opencl_gpu.h"

namespace wm::runtime {
namespace {

struct IdleDevice {
  std::atomic<bool> idle{false};
  std::atomic<int> released{0};
  std::unique_ptr<Backend> backend = test::null_backend(false);
  [[nodiscard]] MemoryHandle buffer() const { return backend->allocation().create_buffer({0, 64, {}}).object; }
  [[nodiscard]] bool eventually_released(int count) const {
    for (int i = 0; i < 2000 && released < count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return released == count;
  }
};

TEST(DeferredRelease, WaitsForTheDevice) {
  IdleDevice device;
  DeferredRelease releases(*device.backend, [&] { return device.idle.load(); });
  for (int i = 0; i < 3; ++i) releases.release(device.buffer(), 64, [&] { ++device.released; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(device.released, 0) << "a kernel runs";
  EXPECT_EQ(releases.bytes(), 192U);
  device.idle = true;
  EXPECT_TRUE(device.eventually_released(3));
}

TEST(DeferredRelease, HappensAtOnceWhenMemoryIsRequested) {
  IdleDevice device;
  DeferredRelease releases(*device.backend, [&] { return device.idle.load(); });
  for (int i = 0; i < 3; ++i) releases.release(device.buffer(), 64, [&] { ++device.released; });
  releases.release_now();
  EXPECT_EQ(device.released, 3);
  EXPECT_EQ(releases.bytes(), 0U);
}

TEST(DeferredRelease, IsNotDeferredWhereAReleaseDoesNotWait) {
  const auto backend = test::null_backend(true);
  DeferredRelease releases(*backend, [] { return false; });
  int released = 0;
  releases.release(backend->allocation().create_buffer({0, 64, {}}).object, 64, [&] { ++released; });
  EXPECT_EQ(released, 1);
  EXPECT_EQ(releases.bytes(), 0U);
}

// The driver may give the memory to another client next.
TEST(DeferredRelease, WipesTheContents) {
  static std::vector<char> seen;
  static NativeCalls own;
  auto driver = test::null_opencl(false);
  own = driver->cl;
  static cl_command_queue reads;
  reads = own.CreateCommandQueue(driver->context, driver->device, 0, nullptr);
  driver->cl.ReleaseMemObject = [](cl_mem memory) {
    seen.assign(60, 1);
    own.EnqueueReadBuffer(reads, memory, CL_TRUE, 0, seen.size(), seen.data(), 0, nullptr, nullptr);
    return own.ReleaseMemObject(memory);
  };
  {
    OpenClGpu backend(std::move(driver));
    DeferredRelease releases(backend, [] { return false; });
    const QueueHandle queue = backend.allocation().create_queue(true, false).object;
    for (const std::size_t bytes : {64, 61}) {
      MemoryHandle memory = backend.allocation().create_buffer({0, bytes, {}}).object;
      std::vector<std::byte> secret(bytes, std::byte{'s'});
      backend.submission().submit(*queue, BufferTransfer{true, memory, 0, secret, true}, nullptr);
      releases.release(std::move(memory), bytes, [] {});
      releases.release_now();
      EXPECT_EQ(seen, std::vector<char>(60, 0)) << bytes;
    }
  }
  own.ReleaseCommandQueue(reads);
}

TEST(DeferredRelease, LeavesNothingBehind) {
  IdleDevice device;
  {
    DeferredRelease releases(*device.backend, [&] { return device.idle.load(); });
    releases.release(device.buffer(), 64, [&] { ++device.released; });
  }
  EXPECT_EQ(device.released, 1);
}

}  // namespace
}  // namespace wm::runtime
