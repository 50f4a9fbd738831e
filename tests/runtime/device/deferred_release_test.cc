// Memory goes back to the device when nothing runs there, or when it is wanted.
#include "runtime/device/deferred_release.h"

#include <gtest/gtest.h>

#include "fuzz/null_device.h"

namespace wm::runtime {
namespace {

struct Rest {
  std::atomic<bool> at_rest{false};
  std::atomic<int> gone{0};
  std::unique_ptr<Native> native = fuzz::null_device(false);
  cl_mem buffer() const { return native->cl.CreateBuffer(native->context, CL_MEM_READ_WRITE, 64, nullptr, nullptr); }
  bool eventually_gone(int count) const {
    for (int i = 0; i < 2000 && gone < count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return gone == count;
  }
};

TEST(DeferredRelease, WaitForTheDevice) {
  Rest rest;
  DeferredRelease releases(*rest.native, [&] { return rest.at_rest.load(); });
  for (int i = 0; i < 3; ++i) releases.release(rest.buffer(), 64, [&] { ++rest.gone; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(rest.gone, 0) << "something runs";
  EXPECT_EQ(releases.bytes(), 192U);
  rest.at_rest = true;
  EXPECT_TRUE(rest.eventually_gone(3));
}

TEST(DeferredRelease, AreMadeAtOnceWhereMemoryIsWanted) {
  Rest rest;
  DeferredRelease releases(*rest.native, [&] { return rest.at_rest.load(); });
  for (int i = 0; i < 3; ++i) releases.release(rest.buffer(), 64, [&] { ++rest.gone; });
  releases.now();
  EXPECT_EQ(rest.gone, 3);
  EXPECT_EQ(releases.bytes(), 0U);
}

// The device may give the memory to another client next.
TEST(DeferredRelease, WipeWhatWasWritten) {
  static std::vector<char> seen;
  static NativeCalls own;
  Rest rest;
  own = rest.native->cl;
  const cl_command_queue queue = own.CreateCommandQueue(rest.native->context, rest.native->device, 0, nullptr);
  static cl_command_queue reads;
  reads = queue;
  rest.native->cl.ReleaseMemObject = [](cl_mem memory) {
    seen.assign(60, 1);
    own.EnqueueReadBuffer(reads, memory, CL_TRUE, 0, seen.size(), seen.data(), 0, nullptr, nullptr);
    return own.ReleaseMemObject(memory);
  };
  {
    DeferredRelease releases(*rest.native, [&] { return rest.at_rest.load(); });
    for (const std::size_t bytes : {64, 61}) {
      const cl_mem memory = own.CreateBuffer(rest.native->context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
      const std::vector<char> secret(bytes, 's');
      own.EnqueueWriteBuffer(queue, memory, CL_TRUE, 0, bytes, secret.data(), 0, nullptr, nullptr);
      releases.release(memory, bytes, [] {});
      releases.now();
      EXPECT_EQ(seen, std::vector<char>(60, 0)) << bytes;
    }
  }
  own.ReleaseCommandQueue(queue);
}

TEST(DeferredRelease, LeaveNothingBehind) {
  Rest rest;
  {
    DeferredRelease releases(*rest.native, [&] { return rest.at_rest.load(); });
    releases.release(rest.buffer(), 64, [&] { ++rest.gone; });
  }
  EXPECT_EQ(rest.gone, 1);
}

}  // namespace
}  // namespace wm::runtime
