// Integer values of one lane: arithmetic that wraps, saturates or widens without undefined behaviour.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "exec/lane/rows.h"

namespace wm::exec {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

template <typename T>
struct Widened;
template <>
struct Widened<std::uint8_t> {
  using Type = std::uint16_t;
};
template <>
struct Widened<std::int8_t> {
  using Type = std::int16_t;
};
template <>
struct Widened<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct Widened<std::int16_t> {
  using Type = std::int32_t;
};
template <>
struct Widened<std::uint32_t> {
  using Type = std::uint64_t;
};
template <>
struct Widened<std::int32_t> {
  using Type = std::int64_t;
};
template <>
struct Widened<std::uint64_t> {
  using Type = Uint128;
};
template <>
struct Widened<std::int64_t> {
  using Type = Int128;
};
// The integer of the same sign twice as wide: holds every product.
template <typename T>
using Wide = typename Widened<T>::Type;

// At least 32 bits, so that C++'s promotion to int never meets an overflow.
template <typename T>
using Word = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

template <typename T>
WM_LANE T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<Word<T>>(a) + static_cast<Word<T>>(b));
}
template <typename T>
WM_LANE T wrapping_sub(T a, T b) {
  return static_cast<T>(static_cast<Word<T>>(a) - static_cast<Word<T>>(b));
}
template <typename T>
WM_LANE T wrapping_mul(T a, T b) {
  return static_cast<T>(static_cast<Word<T>>(a) * static_cast<Word<T>>(b));
}

template <typename T, typename From>
WM_LANE T clamp_to(From value) {
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign of 8-bit types is meant to spread
  const auto low = static_cast<From>(std::numeric_limits<T>::min());
  const auto high = static_cast<From>(std::numeric_limits<T>::max());
  return static_cast<T>(value < low ? low : value > high ? high : value);
}

}  // namespace wm::exec
