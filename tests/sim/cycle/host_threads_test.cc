#include "sim/cycle/host_threads.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace wm::sim {
namespace {

// The state letter of a thread of this process: S while it sleeps.
char state_of(long thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end == std::string::npos ? '?' : line[name_end + 2];
}

TEST(HostThreads, EveryTaskIsDoneOnceWhateverTheirNumber) {
  HostThreads threads(3);
  for (const std::uint32_t tasks : {0U, 1U, 3U, 4U, 100U}) {
    std::vector<std::atomic<int>> done(tasks);
    for (int round = 0; round < 50; ++round) threads.run(tasks, [&](std::uint32_t i) { ++done[i]; });
    for (const auto& count : done) EXPECT_EQ(count, 50);
  }
}

TEST(HostThreads, FewTasksAreDoneByTheCallingThread) {
  HostThreads threads(3);
  const auto self = std::this_thread::get_id();
  for (int round = 0; round < 100; ++round)
    threads.run(3, [&](std::uint32_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

// A round in which both threads do a task; the number of the other thread.
long meet(HostThreads& threads) {
  std::atomic<int> arrived = 0;
  std::atomic<long> other = 0;
  const long self = ::syscall(SYS_gettid);
  threads.run(4, [&](std::uint32_t) {
    if (const long thread = ::syscall(SYS_gettid); thread != self) other = thread;
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  return other;
}

TEST(HostThreads, AllThreadsWorkAtTheSameTime) {
  HostThreads threads(5);
  std::atomic<int> arrived = 0;
  threads.run(5, [&](std::uint32_t) {
    ++arrived;
    while (arrived < 5) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 5);
}

TEST(HostThreads, AThreadWithoutTasksSleepsAndComesBack) {
  HostThreads threads(2);
  const long worker = meet(threads);
  ASSERT_NE(worker, 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (state_of(worker) != 'S' && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(state_of(worker), 'S') << "it uses a processor though there is nothing to do";
  EXPECT_EQ(meet(threads), worker);
}

}  // namespace
}  // namespace wm::sim
