#include "ptx/type.h"

#include <gtest/gtest.h>
#include <vector>

namespace wm::ptx {
namespace {

std::vector<Type> types_of(bool (*is)(Type)) {
  std::vector<Type> some;
  for (std::size_t i = 0; i < kTypeCount; ++i)
    if (is(static_cast<Type>(i))) some.push_back(static_cast<Type>(i));
  return some;
}

TEST(Types, HaveOneClass) {
  using enum Type;
  EXPECT_EQ(types_of(is_float), (std::vector{f16, f16x2, bf16, bf16x2, tf32, f32, f64, e4m3, e5m2, e4m3x2, e5m2x2}));
  EXPECT_EQ(types_of(is_signed), (std::vector{s8, s16, s32, s64, s16x2}));
  EXPECT_EQ(types_of(is_unsigned), (std::vector{u8, u16, u32, u64, u16x2}));
  EXPECT_EQ(types_of(is_untyped), (std::vector{b8, b16, b32, b64, b128}));
}

}  // namespace
}  // namespace wm::ptx
