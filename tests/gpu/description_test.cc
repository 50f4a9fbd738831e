#include "gpu/description.h"

#include <cstring>
#include <gtest/gtest.h>

#include "tree.h"

namespace wm::gpu {
namespace {

constexpr const char* kGood = R"(about: adds
ptx: add.ptx
entry: add
grid: [4, 2]
block: 256
shared: 1 KB
buffers:
  x: {type: f32, count: 4, content: {values: [1, 2.5, -3, 4e2]}}
  y: {type: u16, count: 3, content: iota, expect: {fill: 7}}
  z: {type: s64, count: 2}
arguments:
  - u32: 1000
  - f32: [1, 2]
  - {buffer: x, offset: 8 B}
  - buffer: z
  - local: 2 KB
)";

std::string complaint(std::string text, const std::string& from = "", const std::string& to = "") {
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  const auto description = read_description(text, "dir/k.yaml");
  return description ? "" : description.error().to_string();
}

TEST(Description, AGoodOneBecomesAnApplication) {
  const auto d = read_description(kGood, "dir/k.yaml");
  ASSERT_TRUE(d) << d.error().to_string();
  EXPECT_EQ(d->name, "k");
  EXPECT_EQ(d->about, "adds");
  EXPECT_EQ(d->ptx_path, "dir/add.ptx");
  ASSERT_EQ(d->application.buffers.size(), 3U);
  EXPECT_EQ(d->application.buffers[0].bytes, 16U);
  EXPECT_EQ(d->application.buffers[1].initial.size(), 6U);
  EXPECT_EQ(d->application.buffers[1].initial[4], std::byte{2});
  EXPECT_TRUE(d->application.buffers[2].initial.empty()) << "no content: never written";
  // Two uploads, the launch, three downloads.
  ASSERT_EQ(d->application.steps.size(), 6U);
  const auto& launch = std::get<Launch>(d->application.steps[2]);
  EXPECT_EQ(launch.kernel, "add");
  EXPECT_EQ(launch.grid, (Dim3{4, 2, 1}));
  EXPECT_EQ(launch.block, (Dim3{256, 1, 1}));
  EXPECT_EQ(launch.dynamic_shared_bytes, 1024U);
  ASSERT_EQ(launch.arguments.size(), 5U);
  EXPECT_EQ(std::get<Scalar>(launch.arguments[0]).bytes.size(), 4U);
  EXPECT_EQ(std::get<Scalar>(launch.arguments[1]).bytes.size(), 8U);
  EXPECT_EQ(std::get<BufferArgument>(launch.arguments[2]).offset, 8U);
  EXPECT_EQ(std::get<BufferArgument>(launch.arguments[3]).buffer, BufferId{2});
  EXPECT_EQ(std::get<LocalMemory>(launch.arguments[4]).bytes, 2048U);
  ASSERT_EQ(d->expected.size(), 1U);
  EXPECT_EQ(d->expected[0].values[2], std::byte{7});
}

TEST(Description, FloatsAreStoredAsWritten) {
  const auto d = read_description(kGood, "dir/k.yaml");
  ASSERT_TRUE(d);
  float values[4];
  std::memcpy(values, d->application.buffers[0].initial.data(), sizeof values);
  EXPECT_EQ(values[1], 2.5F);
  EXPECT_EQ(values[3], 400.0F);
}

constexpr const char* kSeveral = R"(ptx: two.ptx
buffers:
  x: {type: f16, count: 4, content: {values: [1, -2.5, 65504, 1e-7]}}
  y: {type: bf16, count: 2, content: {fill: 3.14159}}
variables:
  table: {type: u32, count: 3, content: iota}
launches:
  - {entry: first, grid: 4, block: 64, repeat: 2, arguments: [{buffer: x}]}
  - entry: second
    grid: [2, 2]
    block: 32
    shared: 1 KB
    cooperative: true
    arguments:
      - struct: [{u8: 7}, {buffer: y, offset: 2 B}, {u16: [1, 2]}, {f64: 0.5}]
)";

TEST(Description, SeveralLaunchesVariablesAndAStruct) {
  const auto d = read_description(kSeveral, "k.yaml");
  ASSERT_TRUE(d) << d.error().to_string();
  EXPECT_EQ(d->entries(), (std::vector<std::string>{"first", "second"}));
  ASSERT_EQ(d->application.variables.size(), 1U);
  EXPECT_EQ(d->application.variables[0].name, "table");
  EXPECT_EQ(d->application.variables[0].bytes.size(), 12U);
  std::vector<const Launch*> launches;
  for (const Step& step : d->application.steps)
    if (const auto* launch = std::get_if<Launch>(&step)) launches.push_back(launch);
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_EQ(launches[1]->kernel, "first");
  EXPECT_FALSE(launches[1]->cooperative);
  EXPECT_TRUE(launches[2]->cooperative);
  EXPECT_EQ(launches[2]->dynamic_shared_bytes, 1024U);
  const auto& packed = std::get<Scalar>(launches[2]->arguments[0]);
  ASSERT_EQ(packed.bytes.size(), 32U);
  EXPECT_EQ(std::to_integer<int>(packed.bytes[0]), 7);
  ASSERT_EQ(packed.addresses.size(), 1U);
  EXPECT_EQ(packed.addresses[0].at, 8U);
  EXPECT_EQ(packed.addresses[0].buffer.index, 1U);
  EXPECT_EQ(packed.addresses[0].offset, 2U);
  EXPECT_EQ(std::to_integer<int>(packed.bytes[18]), 2);
  double last = 0;
  std::memcpy(&last, packed.bytes.data() + 24, sizeof last);
  EXPECT_EQ(last, 0.5);
}

TEST(Description, SmallFloatsAreRoundedToNearest) {
  const auto d = read_description(kSeveral, "k.yaml");
  ASSERT_TRUE(d);
  std::uint16_t x[4], y[2];
  std::memcpy(x, d->application.buffers[0].initial.data(), sizeof x);
  std::memcpy(y, d->application.buffers[1].initial.data(), sizeof y);
  EXPECT_EQ(x[0], 0x3c00);
  EXPECT_EQ(x[1], 0xc100);
  EXPECT_EQ(x[2], 0x7bff);
  EXPECT_EQ(x[3], 0x0002);  // subnormal: 1e-7 / 2^-24 is 1.68
  EXPECT_EQ(y[0], 0x4049);
  EXPECT_EQ(format(Element::f16, std::span(d->application.buffers[0].initial).subspan(2, 2)), "-2.5");
}

TEST(Description, MistakesInLaunchesAreNamed) {
  EXPECT_EQ(complaint(kSeveral, "entry: second", "entri: second"),
            "dir/k.yaml:9: unknown key 'entri' in launch 2 (did you mean 'entry'?)");
  EXPECT_NE(complaint(kSeveral, "repeat: 2", "repeat: 0").find("'repeat' in launch 1"), std::string::npos);
  EXPECT_NE(complaint(kSeveral, "{u8: 7}", "{local: 1 KB}").find("member 1 must be a typed value or a buffer"),
            std::string::npos);
  EXPECT_NE(
      complaint(kSeveral, "ptx: two.ptx", "ptx: two.ptx\ngrid: 4").find("'grid' belongs into each of the 'launches'"),
      std::string::npos);
  EXPECT_NE(complaint(kSeveral, "1e-7", "70000").find("is no f16"), std::string::npos);
}

TEST(Description, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(complaint(kGood, "entry:", "entri:"), "dir/k.yaml:3: unknown key 'entri' (did you mean 'entry'?)");
  EXPECT_EQ(complaint(kGood, "entry: add\n", ""), "dir/k.yaml:1: missing key 'entry'");
  EXPECT_EQ(complaint(kGood, "block: 256", "block: 0"), "dir/k.yaml:5: 'block' must not be zero");
  EXPECT_EQ(complaint(kGood, "[4, 2]", "[4, 2, 1, 1]"), "dir/k.yaml:4: 'grid' has one to three extents");
  EXPECT_EQ(complaint(kGood, "buffer: z", "buffer: zz"),
            "dir/k.yaml:15: argument 4: no buffer 'zz' (did you mean 'z'?)");
  EXPECT_EQ(complaint(kGood, "u32: 1000", "u32: -1"),
            "dir/k.yaml:12: 'u32' in argument 1: '-1' is no u32 (0 to 4294967295)");
  EXPECT_EQ(complaint(kGood, "u32: 1000", "u33: 1"),
            "dir/k.yaml:12: unknown key 'u33' in argument 1 (did you mean 'u32'?)");
  EXPECT_EQ(complaint(kGood, "u32: 1000", "{u32: 1, f32: 2}"),
            "dir/k.yaml:12: argument 1 must be one of: a typed value (u32: 5), buffer: NAME, struct: [MEMBER, …], "
            "local: SIZE");
  EXPECT_EQ(complaint(kGood, "offset: 8 B", "offset: 17 B"),
            "dir/k.yaml:14: argument 3: 'offset' lies past the buffer");
  EXPECT_EQ(complaint(kGood, "offset: 8 B", "offset: 0 B"), "") << "it begins where the buffer does";
  EXPECT_EQ(complaint(kGood, "expect: {fill: 7}", "absolute: -1, expect: {fill: 7}"),
            "dir/k.yaml:9: 'absolute' and 'relative' of y must not be negative");
  EXPECT_EQ(complaint(kGood, "block: 256", "block: [1, 1, 65]"),
            "dir/k.yaml:5: 'block' has 65 threads in z; GPUs run at most 64");
  EXPECT_EQ(complaint(kGood, "content: iota", "content: iotta").substr(0, 40),
            "dir/k.yaml:9: 'content' in y must be zer");
  EXPECT_EQ(complaint(kGood, "-3, 4e2", "-3"), "dir/k.yaml:8: 'content' in x has 3 values, the buffer 4 elements");
  EXPECT_EQ(complaint(kGood, "type: s64", "type: int").substr(0, 52),
            "dir/k.yaml:10: 'type' in z must be one of u8, s8, u1");
}

TEST(Description, AHugeBufferIsRefusedNotTried) {
  EXPECT_EQ(complaint(kGood, "type: s64, count: 2", "type: s64, count: 99999999999"),
            "dir/k.yaml:10: 'count' in z makes a buffer of more than 64 GB");
}

TEST(Description, OfAFileNotThere) {
  EXPECT_EQ(complaint(kGood, "content: iota", "content: {file: no.bin}"),
            "dir/k.yaml:9: 'content' in y: cannot read 'dir/no.bin': No such file or directory");
  EXPECT_FALSE(read_description("no.yaml"));
}

TEST(Description, ANameOfTheZooIsNone) {
  EXPECT_TRUE(is_description("a/b.yaml"));
  EXPECT_FALSE(is_description("mri-q"));
}

TEST(Description, TheExampleIsRead) {
  const auto d = read_description(source_path("examples/saxpy/saxpy.yaml"));
  ASSERT_TRUE(d) << d.error().to_string();
  EXPECT_EQ(d->entry, "saxpy");
  EXPECT_EQ(d->expected.size(), 1U);
}

}  // namespace
}  // namespace wm::gpu
