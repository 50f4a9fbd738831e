// Which launch a faulting group belongs to, and which launches fail with it.
#include "runtime/device/guarded_launches.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

// A kernel with a buffer and a number, launched for 4 groups of 16 items, and the call of one of its groups.
struct Launched {
  Launched(GuardedLaunches& launches, std::byte* address, int number, std::string name = "f")
      : value(number),
        at(address),
        memory(
            nullptr, [](cl_mem) -> cl_int { return 0; }, nullptr, address),
        kernel(
            nullptr, [](cl_kernel) -> cl_int { return 0; }, std::move(name)) {
    const KernelArgument arguments[] = {{ArgumentKind::memory, 0, nullptr, &memory, nullptr},
                                        {ArgumentKind::value, sizeof value, &value, nullptr, nullptr}};
    KernelLaunch launch;
    launch.kernel = &kernel;
    launch.arguments = arguments;
    launch.global = {64, 1, 1};
    launches.submitted(launches.add(launch), event());
  }
  [[nodiscard]] EventHandle event() { return reinterpret_cast<EventHandle>(this); }
  [[nodiscard]] GroupCall call() const { return {kernel.name, values, context}; }

  int value;
  std::byte* at;
  OpenClMemory memory;
  OpenClKernel kernel;
  void* values[2] = {&at, &value};
  std::size_t context[9] = {4, 1, 1, 0, 0, 0, 16, 1, 1};
};

std::byte a_buffer, another_buffer;

TEST(GuardedLaunches, OnlyTheLaunchWithTheSameArgumentsFails) {
  GuardedLaunches launches;
  Launched first(launches, &a_buffer, 1), other_buffer(launches, &another_buffer, 1),
      other_value(launches, &a_buffer, 2), other_kernel(launches, &a_buffer, 1, "g");
  EXPECT_TRUE(launches.record_fault(first.call(), {"f", 11, 0}));
  EXPECT_TRUE(launches.faulted(first.event()));
  EXPECT_FALSE(launches.runs(first.call()));
  for (Launched* other : {&other_buffer, &other_value, &other_kernel}) {
    EXPECT_FALSE(launches.faulted(other->event()));
    EXPECT_TRUE(launches.runs(other->call()));
  }
  EXPECT_EQ(launches.fault_count(), 1U);
  EXPECT_EQ(launches.take_faults().size(), 1U);
}

TEST(GuardedLaunches, AReleasedLaunchIsForgotten) {
  GuardedLaunches launches;
  Launched launched(launches, &a_buffer, 1);
  EXPECT_TRUE(launches.record_fault(launched.call(), {"f", 11, 0}));
  launches.released(launched.event());
  EXPECT_FALSE(launches.faulted(launched.event()));
  EXPECT_TRUE(launches.runs(launched.call()));
  EXPECT_FALSE(launches.record_fault(launched.call(), {"f", 11, 0})) << "no submitted launch matches";
}

TEST(GuardedLaunches, WithoutAMatchAllLaunchesOfTheKernelFail) {
  GuardedLaunches launches;
  Launched first(launches, &a_buffer, 1), second(launches, &another_buffer, 2);
  Launched elsewhere(launches, &a_buffer, 3);
  const GroupCall call = elsewhere.call();
  launches.released(elsewhere.event());
  EXPECT_TRUE(launches.record_fault(call, {"f", 11, 0}));
  EXPECT_TRUE(launches.faulted(first.event()) && launches.faulted(second.event()));
}

}  // namespace
}  // namespace wm::runtime
