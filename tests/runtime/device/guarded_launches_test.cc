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

// A call belongs to a launch whose items it has in all three dimensions.
TEST(GuardedLaunches, TheRangeOfACallIsThatOfItsLaunch) {
  struct Row {
    Size3 global;
    std::uint32_t dimensions;
    std::size_t groups[3], local[3];
    bool same;
  };
  for (const Row& row :
       {Row{{64, 4, 3}, 3, {4, 2, 3}, {16, 2, 1}, true}, Row{{64, 4, 3}, 3, {4, 2, 3}, {16, 2, 2}, false},
        Row{{64, 4, 3}, 3, {4, 4, 3}, {16, 2, 1}, false}, Row{{64, 4, 3}, 3, {5, 2, 3}, {16, 2, 1}, false},
        Row{{64, 4, 9}, 2, {4, 2, 1}, {16, 2, 1}, true}, Row{{64, 9, 9}, 1, {4, 1, 1}, {16, 1, 1}, true}}) {
    const OpenClKernel kernel(
        nullptr, [](cl_kernel) -> cl_int { return 0; }, "f");
    KernelLaunch launch;
    launch.kernel = &kernel;
    launch.global = row.global;
    launch.dimensions = row.dimensions;
    std::size_t context[9] = {};
    std::copy_n(row.groups, 3, context);
    std::copy_n(row.local, 3, context + 6);
    EXPECT_EQ(GuardedLaunch(launch).makes({kernel.name, nullptr, context}), row.same);
  }
}

TEST(GuardedLaunches, ALaunchThatWasNotSubmittedIsForgotten) {
  GuardedLaunches launches;
  const OpenClKernel kernel(
      nullptr, [](cl_kernel) -> cl_int { return 0; }, "f");
  KernelLaunch launch;
  launch.kernel = &kernel;
  launch.global = {64, 1, 1};
  const std::size_t context[9] = {4, 1, 1, 0, 0, 0, 16, 1, 1};
  const auto first = launches.add(launch), second = launches.add(launch);
  launches.remove(first);
  EXPECT_TRUE(launches.record_fault({kernel.name, nullptr, context}, {"f", 11, 0}));
  EXPECT_TRUE(launches.any_faulted());
  launches.remove(second);
  EXPECT_FALSE(launches.any_faulted());
  EXPECT_FALSE(launches.record_fault({kernel.name, nullptr, context}, {"f", 11, 0}));
}

TEST(GuardedLaunches, AReleasedLaunchIsForgotten) {
  GuardedLaunches launches;
  Launched launched(launches, &a_buffer, 1);
  EXPECT_TRUE(launches.record_fault(launched.call(), {"f", 11, 0}));
  launches.released(launched.event());
  launches.released(launched.event());  // an event that it does not know
  EXPECT_FALSE(launches.faulted(launched.event()));
  EXPECT_FALSE(launches.any_faulted());
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
