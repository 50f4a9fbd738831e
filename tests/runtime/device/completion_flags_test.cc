// A flag is set when the copy behind a command has been made, and its place is used again only then.
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "runtime/device/null_opencl.h"
#include "runtime/device/opencl_completion_flags.h"

namespace wm::runtime {
namespace {

// A device whose copies are made when the test says so.
struct SlowCopies {
  static std::vector<std::function<void()>>& waiting() {
    static std::vector<std::function<void()>> copies;
    return copies;
  }
  static std::unique_ptr<Native> device() {
    waiting().clear();
    auto native = test::null_opencl(false);
    static decltype(NativeCalls::EnqueueReadBuffer) read;
    read = native->cl.EnqueueReadBuffer;
    native->cl.EnqueueReadBuffer = [](cl_command_queue q, cl_mem m, cl_bool wait, std::size_t at, std::size_t size,
                                      void* to, cl_uint, const cl_event*, cl_event* event) {
      waiting().push_back([=] { read(q, m, wait, at, size, to, 0, nullptr, event); });
      return CL_SUCCESS;
    };
    return native;
  }
};

TEST(CompletionFlags, AreSetWhenTheirCopyIsMade) {
  const auto native = SlowCopies::device();
  OpenClCompletionFlags flags(*native);
  const OpenClQueue queue(native->cl.CreateCommandQueue(native->context, native->device, 0, nullptr),
                          native->cl.ReleaseCommandQueue);
  const auto first = flags.enqueue(queue, nullptr), second = flags.enqueue(queue, nullptr);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(SlowCopies::waiting().size(), 2U);
  SlowCopies::waiting()[1]();
  EXPECT_FALSE(flags.is_set(*first)) << "the first command need not complete first";
  EXPECT_TRUE(flags.is_set(*second));
  SlowCopies::waiting()[0]();
  EXPECT_TRUE(flags.is_set(*first));
}

// A flag that was released before it was set would be set for the next one in its place.
TEST(CompletionFlags, APlaceIsReusedOnlyWhenItsFlagIsSet) {
  const auto native = SlowCopies::device();
  OpenClCompletionFlags flags(*native);
  const OpenClQueue queue(native->cl.CreateCommandQueue(native->context, native->device, 0, nullptr),
                          native->cl.ReleaseCommandQueue);
  std::set<std::uint32_t> places;
  while (const auto flag = flags.enqueue(queue, nullptr)) {
    EXPECT_TRUE(places.insert(flag->place).second);
    flags.release(*flag);
  }
  EXPECT_EQ(places.size(), SlowCopies::waiting().size());
  SlowCopies::waiting().front()();
  const auto again = flags.enqueue(queue, nullptr);
  ASSERT_TRUE(again);
  EXPECT_FALSE(flags.is_set(*again));
  SlowCopies::waiting().back()();
  EXPECT_TRUE(flags.is_set(*again));
  EXPECT_FALSE(flags.enqueue(queue, nullptr)) << "all others may still be set";
}

}  // namespace
}  // namespace wm::runtime
