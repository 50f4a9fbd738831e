// The shape of a launch: its groups, its expected time, and the group size of its workers.
#include "runtime/program/launch_plan.h"

#include <gtest/gtest.h>

#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {
namespace {

LaunchPlan plan_of(std::uint32_t dimensions, Size3 global, std::optional<Size3> local, std::uint64_t max_items = 1024) {
  LaunchPlan plan;
  plan.kernel = make_kernel("k");
  plan.kernel->max_items = max_items;
  auto form = std::make_shared<KernelForm>(*make_form("k", true));
  form->max_items = max_items;
  plan.form = form;
  plan.dimensions = dimensions;
  plan.global = global;
  plan.local = local.value_or(Size3{});
  plan.local_given = local.has_value();
  return plan;
}

TEST(LaunchPlan, GroupsAreOfTheGivenSizeOrOfTheLargestThatTheDeviceMayChoose) {
  struct Case {
    std::uint32_t dimensions;
    Size3 global;
    std::optional<Size3> local;
    std::uint64_t max_items, items, groups;
  };
  const Case cases[] = {
      {1, {64, 9, 9}, Size3{16, 7, 7}, 1024, 16, 4},   {2, {64, 8, 9}, Size3{16, 2, 7}, 1024, 32, 16},
      {3, {64, 8, 4}, Size3{16, 2, 4}, 1024, 128, 16}, {1, {65, 1, 1}, Size3{16, 1, 1}, 1024, 16, 5},
      {1, {64, 9, 9}, std::nullopt, 1024, 64, 1},      {2, {64, 32, 9}, std::nullopt, 1024, 1024, 2},
      {1, {64, 1, 1}, std::nullopt, 0, 1, 64},         {1, {1025, 1, 1}, std::nullopt, 1024, 1024, 2}};
  for (const Case& c : cases) {
    const LaunchPlan plan = plan_of(c.dimensions, c.global, c.local, c.max_items);
    EXPECT_EQ(group_items(plan), c.items) << c.global[0];
    EXPECT_EQ(group_count(plan), c.groups) << c.global[0];
  }
}

TEST(LaunchPlan, ItsExpectedTimeFollowsTheTimesOfItsGroups) {
  const LaunchPlan plan = plan_of(1, {64, 1, 1}, Size3{16, 1, 1});
  EXPECT_FALSE(expected_nanoseconds(plan).has_value()) << "it has not run yet";
  note_duration(plan, 4000, false);
  EXPECT_DOUBLE_EQ(*expected_nanoseconds(plan), 4000) << "the first time counts as it is";
  note_duration(plan, 8000, false);
  EXPECT_DOUBLE_EQ(*expected_nanoseconds(plan), 5000) << "a quarter of a later one";
  note_duration(plan, 2500, false);
  EXPECT_DOUBLE_EQ(*expected_nanoseconds(plan), 4375) << "half of it is not much shorter";
  note_duration(plan, 2000, false);
  EXPECT_DOUBLE_EQ(*expected_nanoseconds(plan), 2000) << "a much shorter one replaces it";
  note_duration(plan, 6000, true);
  EXPECT_DOUBLE_EQ(*expected_nanoseconds(plan), 2000) << "beside others it may have waited for them";
  note_duration(plan, 1600, true);
  EXPECT_DOUBLE_EQ(*expected_nanoseconds(plan), 1900) << "it would not take longer by itself";
  plan.kernel->group_nanoseconds = 0.5;
  EXPECT_DOUBLE_EQ(*expected_nanoseconds(plan), 2) << "half a nanosecond is known too";
}

TEST(LaunchPlan, WorkersHaveTheGroupSizeOfTheLaunchOrOneThatDividesIt) {
  struct Case {
    std::uint32_t dimensions;
    Size3 global;
    std::optional<Size3> local;
    std::uint64_t max_items;
    std::optional<Size3> expected;
  };
  const Case cases[] = {{1, {64, 1, 1}, Size3{16, 1, 1}, 1024, Size3{16, 1, 1}},
                        {2, {64, 8, 1}, Size3{16, 2, 1}, 1024, Size3{16, 2, 1}},
                        {2, {64, 8, 1}, Size3{16, 3, 1}, 1024, std::nullopt},     // groups of different sizes
                        {1, {16, 1, 1}, Size3{16, 1, 1}, 1024, std::nullopt},     // one group
                        {1, {32, 1, 1}, Size3{16, 1, 1}, 1024, Size3{16, 1, 1}},  // two
                        {2, {16, 2, 1}, Size3{16, 1, 1}, 1024, Size3{16, 1, 1}},  // two, in the second dimension
                        {1, {64, 1, 1}, Size3{32, 1, 1}, 32, Size3{32, 1, 1}},    // the largest group of workers
                        {1, {64, 1, 1}, Size3{32, 1, 1}, 31, std::nullopt},       // too large for workers
                        {2, {64, 8, 1}, Size3{16, 2, 1}, 31, std::nullopt},       // in both dimensions
                        {1, {512, 1, 1}, std::nullopt, 1024, Size3{256, 1, 1}},   // the largest that is chosen
                        {1, {300, 1, 1}, std::nullopt, 1024, Size3{150, 1, 1}},   // the largest divisor
                        {1, {512, 1, 1}, std::nullopt, 64, Size3{64, 1, 1}},      // up to what the form takes
                        {1, {32, 1, 1}, std::nullopt, 16, Size3{16, 1, 1}},       // the smallest that is worth it
                        {1, {45, 1, 1}, std::nullopt, 44, std::nullopt},          // 15 items are not
                        {1, {257, 1, 1}, std::nullopt, 1024, std::nullopt},       // a prime
                        {2, {256, 5, 1}, std::nullopt, 1024, Size3{256, 1, 1}},   // rows
                        {1, {std::size_t{1} << 31, 1, 1}, Size3{1, 1, 1}, 1024, std::nullopt},
                        {1, {(std::size_t{1} << 31) - 2, 1, 1}, Size3{1, 1, 1}, 1024, Size3{1, 1, 1}},
                        {1, {(std::size_t{1} << 31) - 1, 1, 1}, Size3{1, 1, 1}, 1024, std::nullopt}};
  for (const Case& c : cases) {
    EXPECT_EQ(worker_local_size(plan_of(c.dimensions, c.global, c.local, c.max_items)), c.expected)
        << c.global[0] << "x" << c.global[1] << " of " << (c.local ? (*c.local)[0] : 0) << ", " << c.max_items;
  }
  LaunchPlan unmodified = plan_of(1, {64, 1, 1}, Size3{16, 1, 1});
  unmodified.form = make_form("k", false);
  EXPECT_FALSE(worker_local_size(unmodified).has_value());
}

}  // namespace
}  // namespace wm::runtime::test
