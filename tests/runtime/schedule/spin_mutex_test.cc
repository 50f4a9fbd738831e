// The order in which threads take a SpinMutex.
#include "runtime/schedule/spin_mutex.h"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

#include "runtime/helper/thread_state.h"

namespace wm::runtime {
namespace {

TEST(SpinMutex, AThreadThatLocksFirstIsBeforeThoseThatComeLater) {
  for (int i = 0; i < 50; ++i) {
    SpinMutex mutex;
    std::vector<int> order;
    std::vector<std::thread> threads;
    mutex.lock();
    threads.push_back(test::sleeping_thread([&] {
      const FirstLock lock(mutex);
      order.push_back(0);
    }));
    for (int later = 1; later < 4; ++later)
      threads.push_back(test::sleeping_thread([&, later] {
        const std::lock_guard lock(mutex);
        order.push_back(later);
      }));
    mutex.unlock();
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(order.size(), 4U);
    ASSERT_EQ(order.front(), 0) << "round " << i;
  }
}

// A thread that locks again at once would have the mutex before the other is awake.
TEST(SpinMutex, AThreadThatLocksAgainAtOnceIsAfterTheOneThatIsFirst) {
  for (int i = 0; i < 50; ++i) {
    SpinMutex mutex;
    bool first_had_it = false;  // guarded by the mutex
    mutex.lock();
    std::thread first = test::sleeping_thread([&] {
      const FirstLock lock(mutex);
      first_had_it = true;
    });
    mutex.unlock();
    mutex.lock();
    const bool in_order = first_had_it;
    mutex.unlock();
    first.join();
    ASSERT_TRUE(in_order) << "round " << i;
  }
}

TEST(SpinMutex, EveryThreadGetsItInTheEnd) {
  constexpr int kThreads = 6;
  constexpr int kTimes = 2000;
  SpinMutex mutex;
  int count = 0;  // guarded by the mutex
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < kTimes; ++n) {
        if (t < 2) {
          const FirstLock lock(mutex);
          ++count;
        } else {
          const std::lock_guard lock(mutex);
          ++count;
        }
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(count, kThreads * kTimes);
}

}  // namespace
}  // namespace wm::runtime
