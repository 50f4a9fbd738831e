#include "gpu/content.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace wm::gpu {
namespace {

template <typename T>
std::vector<T> values(const std::vector<std::byte>& bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

Result<std::vector<std::byte>> content(const std::string& text, Element element, std::size_t count) {
  const auto value = yaml::load(text, "c.yaml");
  return read_content(*value, "'content'", element, count, "");
}

TEST(Content, CountsUp) {
  EXPECT_EQ(values<float>(iota(Element::f32, 3)), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(values<std::uint8_t>(iota(Element::u8, 258))[257], 1);
  EXPECT_EQ(values<double>(*content("{iota: {from: 1, step: 2.5}}", Element::f64, 3)),
            (std::vector<double>{1, 3.5, 6}));
  EXPECT_EQ(values<std::int16_t>(*content("{iota: {from: 1, step: -2}}", Element::s16, 3)),
            (std::vector<std::int16_t>{1, -1, -3}));
}

TEST(Content, RandomIsTheSameEveryTime) {
  EXPECT_EQ(random(Element::u32, 100, 1), *content("random", Element::u32, 100));
  EXPECT_NE(random(Element::u32, 100, 1), *content("{random: {seed: 2}}", Element::u32, 100));
}

TEST(Content, RandomStaysInItsBounds) {
  for (const float x : values<float>(random(Element::f32, 1000, 3))) EXPECT_TRUE(x >= 0 && x < 1.0F) << x;
  bool negative = false;
  for (const int x : values<std::int32_t>(*content("{random: {low: -5, high: 5}}", Element::s32, 1000))) {
    EXPECT_TRUE(x > -6 && x < 5) << x;
    negative = negative || x < 0;
  }
  EXPECT_TRUE(negative);
}

TEST(Content, ZeroFillAndValues) {
  EXPECT_EQ(values<std::uint64_t>(*content("zero", Element::u64, 2)), (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(values<float>(*content("{fill: 1.5}", Element::f32, 2)), (std::vector<float>{1.5F, 1.5F}));
  EXPECT_EQ(values<std::int8_t>(*content("{values: [-128, 127]}", Element::s8, 2)),
            (std::vector<std::int8_t>{-128, 127}));
}

TEST(Content, NotANumberAndInfinityAsYamlWritesThem) {
  const auto read = values<double>(*content("{values: [.nan, .inf, -.Inf, nan, -inf]}", Element::f64, 5));
  EXPECT_TRUE(std::isnan(read[0]) && std::isnan(read[3]));
  EXPECT_EQ(read[1], std::numeric_limits<double>::infinity());
  EXPECT_EQ(read[2], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(read[4], read[2]);
  EXPECT_TRUE(std::isnan(values<float>(*content("{fill: .NaN}", Element::f32, 1))[0]));
  EXPECT_FALSE(content("{fill: .nan}", Element::s32, 1)) << "no integer is that";
  EXPECT_FALSE(content("{fill: .nano}", Element::f32, 1));
}

TEST(Content, MistakesAreNamed) {
  EXPECT_EQ(content("{fill: 300}", Element::u8, 2).error().to_string(),
            "c.yaml:1: 'content': '300' is no u8 (0 to 255)");
  EXPECT_EQ(content("{fil: 3}", Element::u8, 2).error().to_string(),
            "c.yaml:1: unknown key 'fil' in 'content' (did you mean 'fill'?)");
  EXPECT_EQ(content("{fill: 3, values: [1, 2]}", Element::u8, 2).error().to_string(),
            "c.yaml:1: 'content' must have one of fill, values, iota, random, file");
  EXPECT_EQ(content("{random: {low: 1, high: 1}}", Element::f32, 2).error().to_string(),
            "c.yaml:1: 'content': 'low' must be less than 'high'");
}

TEST(Content, IntegersThatDoNotFitAreRefused) {
  const auto refusal = [](const std::string& text, Element element, std::size_t count) {
    const auto read = content(text, element, count);
    return read ? std::string("accepted") : read.error().what;
  };
  EXPECT_EQ(refusal("{random: {low: 0, high: 1e30}}", Element::u32, 8),
            "'content': '1e+30' is no u32 (0 to 4294967295)");
  EXPECT_EQ(refusal("{random: {low: -5, high: 1}}", Element::u32, 8), "'content': '-5' is no u32 (0 to 4294967295)");
  EXPECT_EQ(refusal("{random: {low: 0, high: 257}}", Element::u8, 8), "'content': '256' is no u8 (0 to 255)");
  EXPECT_EQ(refusal("{random: {low: 0, high: 256}}", Element::u8, 8), "accepted");
  EXPECT_EQ(refusal("{random: {low: -0.5, high: 0.5}}", Element::u8, 8), "accepted") << "all are 0";
  EXPECT_EQ(refusal("{random: {low: 0, high: 1e300}}", Element::f32, 8),
            "'content': '1e+300' is no f32 (a number of at most 3.4028e+38)");
  EXPECT_EQ(refusal("{iota: {from: 1.5}}", Element::u8, 2), "'content': '1.5' is no u8 (0 to 255)");
  EXPECT_EQ(refusal("{iota: {from: -1}}", Element::u8, 2), "'content': '-1' is no u8 (0 to 255)");
  EXPECT_EQ(refusal("{iota: {from: 0, step: -100}}", Element::u8, 2), "'content': '-100' is no u8 (0 to 255)");
  EXPECT_EQ(refusal("{iota: {from: 0, step: 0.5}}", Element::u8, 3),
            "'content': 'step' must be a whole number for u8, not 0.5");
  EXPECT_EQ(refusal("{iota: {from: 250, step: 5}}", Element::u8, 2), "accepted");
  EXPECT_EQ(refusal("{iota: {from: 250, step: 5}}", Element::u8, 3), "'content': '260' is no u8 (0 to 255)");
  const auto large = content("{iota: {from: 9223372036854775808, step: 0}}", Element::u64, 1);
  EXPECT_EQ(values<std::uint64_t>(*large)[0], std::uint64_t{1} << 63);
}

TEST(Content, AFileWithoutAnEndIsTooLong) {
  EXPECT_EQ(content("{file: /dev/zero}", Element::f32, 2).error().to_string(),
            "c.yaml:1: 'content': '/dev/zero' has more than 8 bytes");
  EXPECT_EQ(content("{file: /dev/null}", Element::f32, 2).error().to_string(),
            "c.yaml:1: 'content': '/dev/null' has 0 bytes, the buffer 8");
}

TEST(Element, NamesSizesAndText) {
  EXPECT_EQ(parse_element("f64"), Element::f64);
  EXPECT_FALSE(parse_element("float"));
  EXPECT_EQ(size(Element::s16), 2U);
  std::vector<std::byte> bytes;
  ASSERT_TRUE(append(Element::f32, "0.1", bytes));
  EXPECT_EQ(format(Element::f32, bytes), "0.1");
  EXPECT_EQ(append(Element::f32, "1e40", bytes).error().what, "'1e40' is no f32 (a number of at most 3.4028e+38)");
  EXPECT_EQ(append(Element::f16, "1e9", bytes).error().what, "'1e9' is no f16 (a number of at most 65504)");
  EXPECT_EQ(append(Element::bf16, "1e39", bytes).error().what, "'1e39' is no bf16 (a number of at most 3.3895e+38)");
  bytes.clear();
  ASSERT_TRUE(append(Element::s8, "-5", bytes));
  EXPECT_EQ(format(Element::s8, bytes), "-5");
}

}  // namespace
}  // namespace wm::gpu
