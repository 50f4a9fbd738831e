// Objects are destroyed on the cleanup thread, all of them before it ends.
#include "runtime/device/cleanup_thread.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

TEST(CleanupThread, TheCallerDoesNotWaitForTheDestruction) {
  std::promise<void> may_go;
  std::promise<std::thread::id> went;
  CleanupThread cleanup;
  cleanup.take(std::shared_ptr<void>(nullptr, [&](void*) {
    may_go.get_future().wait();
    went.set_value(std::this_thread::get_id());
  }));
  cleanup.take(std::make_shared<int>(1));  // while the first object is being destroyed
  may_go.set_value();
  EXPECT_NE(went.get_future().get(), std::this_thread::get_id());
}

TEST(CleanupThread, LeavesNothingBehind) {
  std::atomic<int> gone{0};
  {
    CleanupThread cleanup;
    for (int i = 0; i < 1000; ++i) cleanup.take(std::shared_ptr<void>(nullptr, [&](void*) { ++gone; }));
  }
  EXPECT_EQ(gone, 1000);
}

}  // namespace
}  // namespace wm::runtime
