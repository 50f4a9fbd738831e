// Texture fetches against values computed by hand from the formulas of the CUDA programming guide.
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

#include "exec/texture_sample.h"

namespace wm::exec {
namespace {

class TextureTest : public ::testing::Test {
 protected:
  // A texture over `values` in rows of `width`.
  template <typename T>
  TextureHeader texture(TexelFormat format, const std::vector<T>& values, std::uint32_t width, std::uint32_t height = 1,
                        std::uint32_t depth = 1) {
    TextureHeader t;
    t.magic = TextureHeader::kMagic;
    t.format = format;
    t.channels = static_cast<std::uint8_t>(sizeof(T) / format_bytes(format));
    t.dimensions = depth > 1 ? 3 : height > 1 ? 2 : 1;
    t.width = width;
    t.height = height;
    t.depth = depth;
    t.address[0] = *memory_.allocate(values.size() * sizeof(T), "texels");
    t.pitch[0] = width * sizeof(T);
    EXPECT_TRUE(
        memory_.write(t.address[0], reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)));
    EXPECT_TRUE(t.is_valid());
    return t;
  }
  Texel fetch(const TextureHeader& t, TexturePoint point) {
    Texel out{};
    std::uint64_t first = 0;
    EXPECT_TRUE(sample(t, memory_, point, out, first));
    return out;
  }
  float at(const TextureHeader& t, double x, double y = 0, double z = 0) {
    return std::bit_cast<float>(fetch(t, {.at = {x, y, z}})[0]);
  }

  AddressSpace memory_;
};

TEST_F(TextureTest, PointSamplingTakesTheTexelThatHoldsThePoint) {
  const TextureHeader t = texture<float>(TexelFormat::f32, {10, 20, 30, 40}, 4);
  EXPECT_EQ(at(t, 0.0), 10);
  EXPECT_EQ(at(t, 0.99), 10);
  EXPECT_EQ(at(t, 1.0), 20);
  EXPECT_EQ(at(t, 3.5), 40);
  EXPECT_EQ(at(t, -7), 10);  // clamped
  EXPECT_EQ(at(t, 99), 40);
  EXPECT_EQ(fetch(t, {.at = {1, 0, 0}})[3], std::bit_cast<std::uint32_t>(1.0F));  // a missing channel
}

TEST_F(TextureTest, LinearFilteringWeighsWithEightBits) {
  TextureHeader t = texture<float>(TexelFormat::f32, {10, 20, 30, 40}, 4);
  t.filters = 1;
  // x = 1.5 is the centre of texel 1; halfway to texel 2 is x = 2.
  EXPECT_EQ(at(t, 1.5), 20);
  EXPECT_EQ(at(t, 2.0), 25);
  EXPECT_EQ(at(t, 1.75), 22.5F);
  // 0.3 is 76.8/256, hence 77/256.
  EXPECT_EQ(at(t, 1.8), 20 + 10 * 77.0F / 256);
  // 0.001 is 0.256/256, hence 0; 0.999 is 1.
  EXPECT_EQ(at(t, 1.501), 20);
  EXPECT_EQ(at(t, 2.499), 30);
  EXPECT_EQ(at(t, 0.25), 10);  // both neighbours are texel 0
  EXPECT_EQ(at(t, 3.9), 40);
}

TEST_F(TextureTest, TwoAndThreeDimensionsAreFilteredInEach) {
  TextureHeader t = texture<float>(TexelFormat::f32, {0, 1, 2, 3}, 2, 2);
  t.filters = 1;
  EXPECT_EQ(at(t, 1.0, 1.0), 1.5F);
  EXPECT_EQ(at(t, 1.25, 0.5), 0.75F);
  EXPECT_EQ(at(t, 1.25, 0.75), 0.75F * 0.75F + 0.25F * 2.75F);
  TextureHeader v = texture<float>(TexelFormat::f32, {0, 1, 2, 3, 4, 5, 6, 7}, 2, 2, 2);
  v.filters = 1;
  EXPECT_EQ(at(v, 1, 1, 1), 3.5F);
  EXPECT_EQ(at(v, 0.5, 0.5, 1.25), 3.0F);
}

TEST_F(TextureTest, NormalizedCoordinatesWrapMirrorClampOrMeetTheBorder) {
  TextureHeader t = texture<float>(TexelFormat::f32, {10, 20, 30, 40}, 4);
  t.has_normalized_coordinates = 1;
  t.modes[0] = AddressMode::wrap;
  EXPECT_EQ(at(t, 0.25), 20);
  EXPECT_EQ(at(t, 1.25), 20);
  EXPECT_EQ(at(t, -0.25), 40);
  t.modes[0] = AddressMode::mirror;
  EXPECT_EQ(at(t, 1.1), 40);
  EXPECT_EQ(at(t, -0.3), 20);
  EXPECT_EQ(at(t, 2.3), 20);
  t.modes[0] = AddressMode::clamp;
  EXPECT_EQ(at(t, 5), 40);
  EXPECT_EQ(at(t, -5), 10);
  t.modes[0] = AddressMode::border;
  t.border = {7, 0, 0, 0};
  EXPECT_EQ(at(t, 1.0), 7);
  EXPECT_EQ(at(t, -0.01), 7);
  EXPECT_EQ(at(t, 0.99), 40);
  t.filters = 1;
  EXPECT_EQ(at(t, 0.0), 8.5F);  // halfway between the border and texel 0
  t.modes[0] = AddressMode::wrap;
  EXPECT_EQ(at(t, 0.0), 25);  // halfway between texel 3 and texel 0
  t.modes[0] = AddressMode::mirror;
  EXPECT_EQ(at(t, 0.0), 10);
}

TEST_F(TextureTest, IntegersAreReadAsTheyAreOrNormalized) {
  TextureHeader t = texture<std::uint8_t>(TexelFormat::u8, {0, 51, 255}, 3);
  EXPECT_EQ(fetch(t, {.at = {1, 0, 0}})[0], 51U);
  t.reads_normalized = 1;
  EXPECT_EQ(at(t, 1), 0.2F);
  EXPECT_EQ(at(t, 2), 1.0F);
  TextureHeader s = texture<std::int8_t>(TexelFormat::s8, {-128, -127, 127}, 3);
  EXPECT_EQ(fetch(s, {.at = {0, 0, 0}})[0], static_cast<std::uint32_t>(-128));
  s.reads_normalized = 1;
  EXPECT_EQ(at(s, 0), -1.0F);  // both of the lowest numbers
  EXPECT_EQ(at(s, 1), -1.0F);
  EXPECT_EQ(at(s, 2), 1.0F);
  TextureHeader w = texture<std::int16_t>(TexelFormat::s16, {-32768, 32767}, 2);
  w.reads_normalized = 1;
  EXPECT_EQ(at(w, 0), -1.0F);
  EXPECT_EQ(at(w, 1), 1.0F);
  const TextureHeader h = texture<std::uint16_t>(TexelFormat::f16, {0x3c00, 0xc100}, 2);
  EXPECT_EQ(at(h, 0), 1.0F);
  EXPECT_EQ(at(h, 1), -2.5F);
}

TEST_F(TextureTest, LinearMemoryGivesZerosOutside) {
  TextureHeader t = texture<float>(TexelFormat::f32, {1, 2}, 2);
  t.source = TextureHeader::Source::linear;
  EXPECT_EQ(fetch(t, {.at = {1, 0, 0}, .is_index = true})[0], std::bit_cast<std::uint32_t>(2.0F));
  EXPECT_EQ(fetch(t, {.at = {2, 0, 0}, .is_index = true}), (Texel{}));
  EXPECT_EQ(fetch(t, {.at = {-1, 0, 0}, .is_index = true}), (Texel{}));
}

TEST_F(TextureTest, GatherTakesFourTexelsCounterClockwiseFromTheLowerLeft) {
  using Pair = std::array<float, 2>;
  const TextureHeader t = texture<Pair>(TexelFormat::f32, {Pair{0, 10}, Pair{1, 11}, Pair{2, 12}, Pair{3, 13}}, 2, 2);
  Texel out{};
  std::uint64_t first = 0;
  ASSERT_TRUE(gather(t, memory_, {.at = {1, 1, 0}}, 1, out, first));
  const float expected[] = {12, 13, 11, 10};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(std::bit_cast<float>(out[i]), expected[i]);
}

TEST_F(TextureTest, LevelsAreChosenOrBlended) {
  TextureHeader t = texture<float>(TexelFormat::f32, {1, 1, 1, 1, 3, 3, 7}, 4);
  t.has_normalized_coordinates = 1;
  t.levels = 3;
  t.address[1] = t.address[0] + 16;
  t.address[2] = t.address[0] + 24;
  t.pitch[1] = t.pitch[2] = 8;
  t.max_level = 9;
  const auto level = [&](double l) { return std::bit_cast<float>(fetch(t, {.at = {0.5, 0, 0}, .level = l})[0]); };
  EXPECT_EQ(level(0), 1);
  EXPECT_EQ(level(0.6), 3);
  EXPECT_EQ(level(7), 7);
  t.blends_levels = 1;
  EXPECT_EQ(level(0.5), 2);
  EXPECT_EQ(level(1.25), 4);
  t.max_level = 1;
  EXPECT_EQ(level(2), 3);
  t.level_bias = 1;
  EXPECT_EQ(level(0), 3);
}

TEST_F(TextureTest, LayersAreClampedAndNotFiltered) {
  TextureHeader t = texture<float>(TexelFormat::f32, {1, 2, 3, 4, 5, 6}, 2);
  t.is_layered = 1;
  t.depth = 3;
  const auto layer = [&](std::uint32_t n) { return std::bit_cast<float>(fetch(t, {.at = {1, 0, 0}, .layer = n})[0]); };
  EXPECT_EQ(layer(0), 2);
  EXPECT_EQ(layer(2), 6);
  EXPECT_EQ(layer(77), 6);
}

TEST_F(TextureTest, CoordinatesThatAreNoNumbersOrHugeReadInside) {
  TextureHeader t = texture<float>(TexelFormat::f32, {10, 20}, 2);
  t.has_normalized_coordinates = 1;
  for (const AddressMode mode : {AddressMode::wrap, AddressMode::clamp, AddressMode::mirror}) {
    t.modes[0] = mode;
    for (const double x : {1e300, -1e300, std::nan("")}) {
      const float value = at(t, x);
      EXPECT_TRUE(value == 10 || value == 20) << x;
    }
  }
}

TEST_F(TextureTest, MemoryThatIsGoneIsNotRead) {
  const TextureHeader t = texture<float>(TexelFormat::f32, {10, 20}, 2);
  ASSERT_TRUE(memory_.free(t.address[0]));
  Texel out{};
  std::uint64_t first = 0;
  EXPECT_FALSE(sample(t, memory_, {}, out, first));
}

}  // namespace
}  // namespace wm::exec
