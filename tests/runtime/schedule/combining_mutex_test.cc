// Work that threads do for each other under a CombiningMutex.
#include "runtime/schedule/combining_mutex.h"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/helper/thread_state.h"

namespace wm::runtime {
namespace {

TEST(CombiningMutex, WorkIsDoneByTheCallerWhereTheMutexIsFree) {
  CombiningMutex mutex;
  std::thread::id by;
  mutex.run([&] { by = std::this_thread::get_id(); });
  EXPECT_EQ(by, std::this_thread::get_id());
  EXPECT_TRUE(mutex.plain().try_lock());
  mutex.plain().unlock();
}

// Threads ask one after the other while this one holds the mutex. It does their work when it unlocks, unless they have
// been asleep by then, and nothing before.
TEST(CombiningMutex, WorkIsDoneInTheOrderOfTheRequests) {
  constexpr int kThreads = 6;
  for (int round = 0; round < 30; ++round) {
    CombiningMutex mutex;
    std::vector<int> order;  // guarded by the mutex
    std::vector<std::thread> threads;
    mutex.lock();
    for (int t = 0; t < kThreads; ++t) {
      std::atomic<bool> asks{false};
      threads.emplace_back([&, t] {
        asks = true;
        mutex.run([&order, t] { order.push_back(t); });
      });
      while (!asks) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_TRUE(order.empty());
    mutex.unlock();
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5})) << "round " << round;
  }
}

TEST(CombiningMutex, TheHolderDoesTheWorkOfAThreadThatWaits) {
  CombiningMutex mutex;
  std::atomic<bool> asks{false}, done{false};
  std::thread::id by;
  mutex.lock();
  std::thread other([&] {
    asks = true;
    mutex.run([&by] { by = std::this_thread::get_id(); });
    done = true;
  });
  while (!asks) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(done);
  mutex.unlock();
  EXPECT_EQ(by, std::this_thread::get_id());
  other.join();
  EXPECT_TRUE(done);
}

TEST(CombiningMutex, AThreadWithThePlainMutexDoesNoWorkOfOthers) {
  CombiningMutex mutex;
  std::atomic<bool> asks{false};
  std::thread::id by;
  mutex.plain().lock();
  std::thread other([&] {
    asks = true;
    mutex.run([&by] { by = std::this_thread::get_id(); });
  });
  while (!asks) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  mutex.plain().unlock();
  const std::thread::id id = other.get_id();
  other.join();
  EXPECT_EQ(by, id);
}

// The second thread asks while the first one, which did not have to wait, is at its work.
TEST(CombiningMutex, AThreadThatRunsItsOwnWorkDoesThatOfOthersAfterIt) {
  CombiningMutex mutex;
  std::thread::id by;
  std::thread other;
  mutex.run([&] {
    other = std::thread([&] { mutex.run([&by] { by = std::this_thread::get_id(); }); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  EXPECT_EQ(by, std::this_thread::get_id());
  other.join();
}

// The holder serves nobody while a thread waits to lock first.
TEST(CombiningMutex, AThreadThatLocksFirstIsBeforeTheWorkOfLaterOnes) {
  for (int round = 0; round < 20; ++round) {
    CombiningMutex mutex;
    std::vector<int> order;  // guarded by the mutex
    std::vector<std::thread> threads;
    mutex.lock();
    threads.push_back(test::sleeping_thread([&] {
      const FirstLock lock(mutex.plain());
      order.push_back(0);
    }));
    for (const int number : {1, 2})
      threads.push_back(
          test::sleeping_thread([&, number] { mutex.run([&order, number] { order.push_back(number); }); }));
    mutex.unlock();
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(order.size(), 3U);
    ASSERT_EQ(order.front(), 0) << "round " << round;
  }
}

TEST(CombiningMutex, AllWorkIsDoneOnceAndNeverAtTheSameTime) {
  constexpr int kThreads = 6, kTimes = 3000;
  CombiningMutex mutex;
  int count = 0;  // guarded by the mutex
  std::vector<int> last(kThreads, -1);
  std::atomic<int> inside{0}, together{0}, out_of_order{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < kTimes; ++n) {
        const auto work = [&, n] {
          if (inside.fetch_add(1) != 0) ++together;
          ++count;
          if (std::exchange(last[static_cast<std::size_t>(t)], n) != n - 1) ++out_of_order;
          inside.fetch_sub(1);
        };
        if (t == 0) {
          const FirstLock lock(mutex.plain());
          work();
        } else if (t == 1) {
          const std::lock_guard lock(mutex);
          work();
        } else {
          mutex.run(work);
          if (last[static_cast<std::size_t>(t)] != n) ++out_of_order;  // `run` returns when the work is done
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(count, kThreads * kTimes);
  EXPECT_EQ(together, 0);
  EXPECT_EQ(out_of_order, 0);
}

}  // namespace
}  // namespace wm::runtime
