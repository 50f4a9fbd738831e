// The comparison that verifies a kernel's first launch as workers.
#include "runtime/program/verification.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

using Compared = sandbox::ComparedArgument::Kind;

LaunchPlan compared_plan(std::array<std::size_t, 3> global, std::uint64_t bytes) {
  LaunchPlan plan;
  plan.kernel = std::make_shared<Kernel>();
  plan.kernel->parameters = {ParameterKind::memory, ParameterKind::memory, ParameterKind::value, ParameterKind::local};
  plan.dimensions = 2;
  plan.global = global;
  plan.offset = {3, 0, 0};
  auto memory = std::make_shared<Memory>();
  memory->extent = bytes;
  for (const auto kind : {ArgumentKind::memory, ArgumentKind::memory, ArgumentKind::value, ArgumentKind::local}) {
    LaunchPlan::Value value;
    value.kind = kind;
    value.size = 4;
    if (kind == ArgumentKind::memory) value.memory = memory;
    if (kind == ArgumentKind::value) value.bytes.assign(4, std::byte{7});
    plan.arguments.push_back(std::move(value));
  }
  return plan;
}

rewrite::KernelReply compared_reply() {
  rewrite::KernelReply kernel;
  kernel.name = "f";
  kernel.arguments.resize(4);
  kernel.arguments[0].type = "float4*";
  kernel.arguments[1].type = "float*";
  return kernel;
}

TEST(Verification, UsesAFewGroupsWithTheLaunchsValuesAndSizes) {
  const auto comparison = Verification::comparison_of(compared_plan({640, 12, 1}, 4096), {16, 4, 1}, compared_reply());
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->local, (std::array<std::uint64_t, 3>{16, 4, 1}));
  EXPECT_LE(comparison->groups[0] * comparison->groups[1], 4U);
  EXPECT_GE(comparison->groups[0] * comparison->groups[1], 2U);
  EXPECT_EQ(comparison->offset[0], 3U);
  ASSERT_EQ(comparison->arguments.size(), 4U);
  EXPECT_EQ(comparison->arguments[0].size, 4096U);
  EXPECT_TRUE(comparison->arguments[0].floating);
  EXPECT_EQ(comparison->arguments[1].buffer, comparison->arguments[0].buffer) << "one buffer, given twice";
  EXPECT_EQ(comparison->arguments[2].kind, Compared::value);
  EXPECT_EQ(comparison->arguments[2].bytes, std::string(4, '\7'));
  EXPECT_EQ(comparison->arguments[3].kind, Compared::local);
}

TEST(Verification, IsNotPossibleWithImagesOrVeryLargeBuffers) {
  LaunchPlan plan = compared_plan({640, 4, 1}, 4096);
  plan.kernel->parameters[1] = ParameterKind::image;
  EXPECT_FALSE(Verification::comparison_of(plan, {16, 4, 1}, compared_reply()));
  EXPECT_FALSE(
      Verification::comparison_of(compared_plan({640, 4, 1}, std::uint64_t{2} << 30), {16, 4, 1}, compared_reply()));
}

}  // namespace
}  // namespace wm::runtime
