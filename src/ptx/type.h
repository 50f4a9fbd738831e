// PTX's fundamental types, with their sizes and classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wm::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  u16x2,
  s16x2,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  u4,
  s4,
  b1,
  texref,
  samplerref,
  surfref,
};

inline constexpr int kTypeCount = static_cast<int>(Type::surfref) + 1;

// Bits of one value; a predicate counts as 1.
[[nodiscard]] int bits(Type type);
[[nodiscard]] inline int bytes(Type type) { return (bits(type) + 7) / 8; }

[[nodiscard]] bool is_float(Type type);     // f16 .. f64, packed ones too
[[nodiscard]] bool is_signed(Type type);    // s8 .. s64, s16x2
[[nodiscard]] bool is_unsigned(Type type);  // u8 .. u64, u16x2
[[nodiscard]] bool is_untyped(Type type);   // b8 .. b128

// Without the dot: "f32".
[[nodiscard]] std::string_view name(Type type);
[[nodiscard]] std::optional<Type> type_named(std::string_view name);

}  // namespace wm::ptx
