// CompletionFlags ring when the copy behind a command has been made, and a place is used again only then.
#include "runtime/device/completion_flags.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "fuzz/null_device.h"

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
    auto native = fuzz::null_device(false);
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

TEST(CompletionFlags, RingWhenTheirCopyIsMade) {
  const auto native = SlowCopies::device();
  CompletionFlags flags(*native);
  const cl_command_queue queue = native->cl.CreateCommandQueue(native->context, native->device, 0, nullptr);
  const auto first = flags.enqueue(queue, nullptr), second = flags.enqueue(queue, nullptr);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(SlowCopies::waiting().size(), 2U);
  SlowCopies::waiting()[1]();
  EXPECT_FALSE(flags.is_set(*first)) << "what was sent first need not end first";
  EXPECT_TRUE(flags.is_set(*second));
  SlowCopies::waiting()[0]();
  EXPECT_TRUE(flags.is_set(*first));
  native->cl.ReleaseCommandQueue(queue);
}

// One that was taken down while it could still ring would ring for the next in its place.
TEST(CompletionFlags, APlaceIsUsedAgainOnlyWhenItHasRung) {
  const auto native = SlowCopies::device();
  CompletionFlags flags(*native);
  const cl_command_queue queue = native->cl.CreateCommandQueue(native->context, native->device, 0, nullptr);
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
  EXPECT_FALSE(flags.enqueue(queue, nullptr)) << "all others may still ring";
  native->cl.ReleaseCommandQueue(queue);
}

}  // namespace
}  // namespace wm::runtime
