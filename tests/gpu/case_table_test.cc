// A line of the case table becomes an application with its buffers, contents and launches.
#include "gpu/case_table.h"

#include <cstring>
#include <gtest/gtest.h>

namespace wm::gpu {
namespace {

std::uint32_t word(const Buffer& b, std::size_t i) {
  std::uint32_t value = 0;
  std::memcpy(&value, b.initial.data() + 4 * i, 4);
  return value;
}

TEST(CaseTable, ALineGivesGridBlockAndArguments) {
  const auto cases = parse_cases("# comment\nscan.big reduce 8,2 32,4,2 512 u32*2K=iota(5,3) f32*4 s32:-7\n", "t");
  ASSERT_TRUE(cases.ok()) << cases.error().to_string();
  ASSERT_EQ(cases->size(), 1U);
  const LaunchCase& c = cases->front();
  EXPECT_EQ(c.entry, "scan");
  EXPECT_EQ(c.file, "reduce");
  EXPECT_EQ(c.grid, (Dim3{8, 2, 1}));
  EXPECT_EQ(c.block, (Dim3{32, 4, 2}));
  const auto application = make_application(c, 2);
  ASSERT_TRUE(application.ok()) << application.error().to_string();
  ASSERT_EQ(application->buffers.size(), 2U);
  EXPECT_EQ(application->buffers[0].bytes, 8192U);
  EXPECT_EQ(word(application->buffers[0], 2), 11U);
  EXPECT_EQ(word(application->buffers[1], 3), 0U);
  ASSERT_EQ(application->steps.size(), 4U);  // two uploads, two launches
  const auto& launch = std::get<Launch>(application->steps.back());
  EXPECT_EQ(launch.dynamic_shared_bytes, 512U);
  ASSERT_EQ(launch.arguments.size(), 3U);
  EXPECT_EQ(std::get<Scalar>(launch.arguments[2]).bytes.size(), 4U);
}

TEST(CaseTable, BuffersOfOneCaseHaveDifferentRandomContents) {
  const auto cases = parse_cases("k.1 f 1 32 0 u32*8=random u32*8=random u32*8=fill(9)\n", "t");
  ASSERT_TRUE(cases.ok());
  const auto application = make_application(cases->front(), 1);
  ASSERT_TRUE(application.ok());
  EXPECT_NE(application->buffers[0].initial, application->buffers[1].initial);
  EXPECT_EQ(word(application->buffers[2], 7), 9U);
}

TEST(CaseTable, AMistakeIsNamedWithItsLine) {
  const auto cases = parse_cases("k.1 f 1 32 0\nk.2 f 0 32 0\n", "t");
  ASSERT_FALSE(cases.ok());
  EXPECT_NE(cases.error().to_string().find("t:2"), std::string::npos);
  const auto bad = parse_cases("k.1 f 1 32 0 u32*8=sorted\n", "t");
  ASSERT_TRUE(bad.ok());
  EXPECT_FALSE(make_application(bad->front(), 1).ok());
}

}  // namespace
}  // namespace wm::gpu
