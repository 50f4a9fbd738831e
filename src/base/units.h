// Units as types: integers that cannot be mixed up. A count of cycles adds to cycles, never to bytes.
//
// `Cycles{5}.count` is the number; arithmetic within a unit and scaling by plain integers are all there is.
#pragma once

#include <compare>
#include <cstdint>

namespace wm {

template <typename Tag>
struct Quantity {
  std::uint64_t count = 0;

  constexpr Quantity& operator+=(Quantity other) { return count += other.count, *this; }
  constexpr Quantity& operator-=(Quantity other) { return count -= other.count, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.count + b.count}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.count - b.count}; }
  friend constexpr Quantity operator*(Quantity a, std::uint64_t n) { return {a.count * n}; }
  friend constexpr Quantity operator*(std::uint64_t n, Quantity a) { return {a.count * n}; }
  friend constexpr Quantity operator/(Quantity a, std::uint64_t n) { return {a.count / n}; }
  friend constexpr std::uint64_t operator/(Quantity a, Quantity b) { return a.count / b.count; }
  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
};

using Cycles = Quantity<struct CyclesTag>;            // of the SM clock
using Picoseconds = Quantity<struct PicosecondsTag>;
using Bytes = Quantity<struct BytesTag>;

inline constexpr Cycles kNever{~std::uint64_t{0}};

}  // namespace wm
