#include "cli/input/arguments.h"

#include <cstring>
#include <gtest/gtest.h>

namespace wm::cli {
namespace {

std::string complaint(const std::string& word) {
  ArgumentList list;
  EXPECT_TRUE(list.add("buf:data:f32x4:iota"));
  const auto added = list.add(word);
  return added ? "" : added.error().what;
}

TEST(Arguments, ScalarsHaveTheBytesOfTheirType) {
  ArgumentList list;
  ASSERT_TRUE(list.add("u32:7"));
  ASSERT_TRUE(list.add("f32:1.5"));
  ASSERT_TRUE(list.add("u8:1,2,3"));
  ASSERT_TRUE(list.add("s64:-1"));
  const auto app = list.application({"k", {}, {}, {}, 0});
  const auto& arguments = std::get<gpu::Launch>(app.steps[0]).arguments;
  ASSERT_EQ(arguments.size(), 4U);
  EXPECT_EQ(std::get<gpu::Scalar>(arguments[0]).bytes[0], std::byte{7});
  EXPECT_EQ(std::get<gpu::Scalar>(arguments[1]).bytes.size(), 4U);
  EXPECT_EQ(std::get<gpu::Scalar>(arguments[2]).bytes.size(), 3U);
  EXPECT_EQ(std::get<gpu::Scalar>(arguments[3]).bytes[7], std::byte{0xff});
}

TEST(Arguments, BuffersAreMadeAndUploaded) {
  ArgumentList list;
  ASSERT_TRUE(list.add("buf:x:f32x4:iota"));
  ASSERT_TRUE(list.add("buf:y:16:iota-u32"));
  ASSERT_TRUE(list.add("buf:z:u16x2:=9"));
  ASSERT_TRUE(list.add("buf:out:8:none"));
  ASSERT_TRUE(list.add("ref:x"));
  ASSERT_TRUE(list.add("local:512"));
  const auto app = list.application({"k", {}, {}, {}, 0});
  ASSERT_EQ(app.buffers.size(), 4U);
  EXPECT_EQ(app.steps.size(), 4U) << "three uploads and the launch";
  float x[4];
  std::memcpy(x, app.buffers[0].initial.data(), sizeof x);
  EXPECT_EQ(x[3], 3.0F);
  EXPECT_EQ(app.buffers[1].initial[12], std::byte{3});
  EXPECT_EQ(app.buffers[2].initial[2], std::byte{9});
  const auto& launch = std::get<gpu::Launch>(app.steps[3]);
  EXPECT_EQ(std::get<gpu::BufferArgument>(launch.arguments[4]).buffer, gpu::BufferId{0});
  EXPECT_EQ(std::get<gpu::LocalMemory>(launch.arguments[5]).bytes, 512U);
}

TEST(Arguments, MistakesAreNamed) {
  EXPECT_EQ(complaint("u32:x"), "'u32:x': 'x' is no u32 (0 to 4294967295)");
  EXPECT_EQ(complaint("u8:256"), "'u8:256': '256' is no u8 (0 to 255)");
  EXPECT_EQ(complaint("buf:x"), "'buf:x': a buffer is buf:NAME:SIZE[:CONTENT]");
  EXPECT_EQ(complaint("buf:x:many"), "'buf:x:many': a buffer's size is bytes (4096) or elements (f32x1024)");
  EXPECT_EQ(complaint("buf:x:f33x4"), "'buf:x:f33x4': a buffer's size is bytes (4096) or elements (f32x1024)");
  EXPECT_EQ(complaint("buf:x:16:ones"), "'buf:x:16:ones': no content 'ones' (zero, iota, random, =VALUE, @FILE, none)");
  EXPECT_EQ(complaint("buf:x:10:iota-u32"), "'buf:x:10:iota-u32': not a whole number of elements");
  EXPECT_EQ(complaint("buf:data:16"), "'buf:data:16': buffer 'data' is there already; ref:NAME names it again");
  EXPECT_EQ(complaint("buf:x:f64x99999999999"), "'buf:x:f64x99999999999': more than 64 GB");
  EXPECT_EQ(complaint("ref:dat"), "'ref:dat': no buffer 'dat' (did you mean 'data'?)");
  EXPECT_EQ(complaint("local:-1"), "'local:-1': '-1' is no number of bytes");
  EXPECT_TRUE(complaint("5").starts_with("'5' is no argument: TYPE:VALUE"));
  EXPECT_EQ(complaint("buf:x:4:@/no/file"), "cannot read '/no/file': No such file or directory");
}

TEST(Extent, OneToThreeNumbersNoneZero) {
  EXPECT_EQ(*parse_extent("4"), (gpu::Dim3{4, 1, 1}));
  EXPECT_EQ(*parse_extent("4,2,3"), (gpu::Dim3{4, 2, 3}));
  for (const char* bad : {"", "0", "4,0", "4,", "1,2,3,4", "x", "-1"}) EXPECT_FALSE(parse_extent(bad)) << bad;
}

TEST(Dumps, ToAFileOrToTheScreen) {
  EXPECT_EQ(parse_dump("y=out.bin")->file, "out.bin");
  const auto dump = parse_dump("y:f32:8");
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->element, gpu::Element::f32);
  EXPECT_EQ(dump->count, 8U);
  EXPECT_FALSE(parse_dump("y")->typed);
  for (const char* bad : {"y=", "y:f33", "y:f32:x", "y:f32:1:2"}) EXPECT_FALSE(parse_dump(bad)) << bad;
}

}  // namespace
}  // namespace wm::cli
