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
  EXPECT_LE(comparison->groups[0] * comparison->groups[1], 16U);
  EXPECT_GE(comparison->groups[0] * comparison->groups[1], 8U);
  EXPECT_EQ(comparison->offset[0], 3U);
  ASSERT_EQ(comparison->arguments.size(), 4U);
  EXPECT_EQ(comparison->arguments[0].size, 4096U);
  EXPECT_TRUE(comparison->arguments[0].floating);
  EXPECT_EQ(comparison->arguments[1].buffer, comparison->arguments[0].buffer) << "one buffer, given twice";
  EXPECT_EQ(comparison->arguments[2].kind, Compared::value);
  EXPECT_EQ(comparison->arguments[2].bytes, std::string(4, '\7'));
  EXPECT_EQ(comparison->arguments[3].kind, Compared::local);
}

TEST(Verification, ABuffersTypeTellsItsNumbers) {
  struct Row {
    const char* type;
    bool floating;
    std::uint32_t width;
  };
  for (const Row& row :
       {Row{"float*", true, 4}, Row{"float4*", true, 4}, Row{"double*", true, 8}, Row{"half*", true, 2},
        Row{"uchar*", false, 1}, Row{"char*", false, 1}, Row{"ushort2*", false, 2}, Row{"short*", false, 2},
        Row{"ulong*", false, 8}, Row{"long*", false, 8}, Row{"size_t*", false, 8}, Row{"bool*", false, 1},
        Row{"uint*", false, 4}, Row{"int*", false, 4}, Row{"struct float_pair*", false, 4}, Row{"xfloat*", false, 4},
        Row{"", false, 4}}) {
    rewrite::KernelReply reply = compared_reply();
    reply.arguments[0].type = row.type;
    const auto comparison = Verification::comparison_of(compared_plan({640, 12, 1}, 4096), {16, 4, 1}, reply);
    ASSERT_TRUE(comparison);
    EXPECT_EQ(comparison->arguments[0].floating, row.floating) << row.type;
    EXPECT_EQ(comparison->arguments[0].width, row.width) << row.type;
  }
}

TEST(Verification, IsNotPossibleWithImagesOrVeryLargeBuffers) {
  LaunchPlan plan = compared_plan({640, 4, 1}, 4096);
  plan.kernel->parameters[1] = ParameterKind::image;
  EXPECT_FALSE(Verification::comparison_of(plan, {16, 4, 1}, compared_reply()));
  EXPECT_FALSE(
      Verification::comparison_of(compared_plan({640, 4, 1}, std::uint64_t{2} << 30), {16, 4, 1}, compared_reply()));
}

TEST(Verification, TheTypeOfABufferSaysWhichNumbersItHolds) {
  struct Case {
    const char* type;
    bool floating;
    std::uint32_t width;
  };
  const Case cases[] = {{"float*", true, 4},  {"double2*", true, 8},   {"half*", true, 2},    {"uchar4*", false, 1},
                        {"char*", false, 1},  {"ushort*", false, 2},   {"short*", false, 2},  {"ulong*", false, 8},
                        {"long*", false, 8},  {"size_t*", false, 8},   {"bool*", false, 1},   {"int*", false, 4},
                        {"uint8*", false, 4}, {"struct s*", false, 4}, {"myfloat*", false, 4}};
  for (const Case& c : cases) {
    rewrite::KernelReply reply = compared_reply();
    reply.arguments[0].type = c.type;
    const auto comparison = Verification::comparison_of(compared_plan({64, 4, 1}, 4096), {16, 4, 1}, reply);
    ASSERT_TRUE(comparison) << c.type;
    EXPECT_EQ(comparison->arguments[0].floating, c.floating) << c.type;
    EXPECT_EQ(comparison->arguments[0].width, c.width) << c.type;
  }
}

TEST(Verification, TheLargestDimensionIsHalvedUntilSixteenGroupsAreLeft) {
  using Groups = std::array<std::uint64_t, 3>;
  struct Case {
    std::array<std::size_t, 3> global;
    Groups groups;
  };
  for (const Case& c : {Case{{256, 4, 1}, {16, 1, 1}}, Case{{272, 4, 1}, {9, 1, 1}}, Case{{32, 8, 1}, {2, 2, 1}},
                        Case{{16, 160, 1}, {1, 10, 1}}, Case{{64, 16, 1}, {4, 4, 1}}, Case{{80, 16, 1}, {3, 4, 1}}}) {
    const auto comparison = Verification::comparison_of(compared_plan(c.global, 64), {16, 4, 1}, compared_reply());
    ASSERT_TRUE(comparison);
    EXPECT_EQ(comparison->groups, c.groups) << c.global[0] << "x" << c.global[1];
    EXPECT_EQ(comparison->dimensions, 2U);
    EXPECT_EQ(comparison->kernel, "f");
  }
}

TEST(Verification, BuffersOfOneGigabyteAreComparedAndNoMore) {
  constexpr std::uint64_t kAll = std::uint64_t{1} << 30;
  EXPECT_TRUE(Verification::comparison_of(compared_plan({64, 4, 1}, kAll), {16, 4, 1}, compared_reply()));
  EXPECT_FALSE(Verification::comparison_of(compared_plan({64, 4, 1}, kAll + 1), {16, 4, 1}, compared_reply()));
  LaunchPlan two = compared_plan({64, 4, 1}, kAll / 2 + 1);
  EXPECT_TRUE(Verification::comparison_of(two, {16, 4, 1}, compared_reply())) << "one buffer, given twice";
  two.arguments[1].memory = std::make_shared<Memory>();
  two.arguments[1].memory->extent = kAll / 2;
  EXPECT_FALSE(Verification::comparison_of(two, {16, 4, 1}, compared_reply())) << "two buffers";
  two.arguments[1].memory->extent = kAll / 2 - 1;
  const auto comparison = Verification::comparison_of(two, {16, 4, 1}, compared_reply());
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->arguments[0].buffer, 0U);
  EXPECT_EQ(comparison->arguments[1].buffer, 1U);
  two.arguments[1].kind = ArgumentKind::no_memory;
  EXPECT_EQ(Verification::comparison_of(two, {16, 4, 1}, compared_reply())->arguments[1].kind, Compared::no_buffer);
  two.arguments[1].kind = ArgumentKind::sampler;
  EXPECT_FALSE(Verification::comparison_of(two, {16, 4, 1}, compared_reply()));
  EXPECT_FALSE(Verification::comparison_of(compared_plan({64, 4, 1}, 64), {16, 4, 1}, {})) << "other parameters";
}

}  // namespace
}  // namespace wm::runtime
