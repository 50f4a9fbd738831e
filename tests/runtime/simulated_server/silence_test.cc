#include "runtime/simulated_server/silence.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

namespace wm::runtime {
namespace {

TEST(Silence, TimeWithoutAProcessorDoesNotCount) {
  double now = 100, waited = 7;
  Silence silence([&] { return now; }, [&] { return waited; });
  now += 6;
  EXPECT_FALSE(silence.lasts(10));
  now += 6;
  waited += 5;
  EXPECT_FALSE(silence.lasts(10)) << "12 seconds, 5 of them without a processor";
  now += 4;
  EXPECT_TRUE(silence.lasts(10));
  silence.end();
  EXPECT_FALSE(silence.lasts(10));
  now += 11;
  EXPECT_TRUE(silence.lasts(10));
}

// Two processes that do not stop share one processor.
TEST(Silence, TheHostCountsHowLongAProcessWaitsForAProcessor) {
  // Kernels without this count have no such file, or zeros in it.
  const auto own = read_file("/proc/self/schedstat");
  if (!own || own->starts_with("0 ")) GTEST_SKIP() << "the host does not count it";
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  pid_t children[2];
  for (pid_t& child : children) {
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child != 0) continue;
    ::sched_setaffinity(0, sizeof one, &one);
    volatile unsigned turns = 0;
    while (true) turns = turns + 1;
  }
  constexpr int kTurns = 60'000;
  int turns = 0;
  while (processor_wait_seconds(children[0]) < 0.01 && ++turns < kTurns) ::usleep(1000);
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_LT(turns, kTurns);
  EXPECT_EQ(processor_wait_seconds(children[0]), 0) << "a process that has ended";
}

}  // namespace
}  // namespace wm::runtime
