// Units as types: integers that cannot be mixed up. A count of cycles adds to cycles, never to bytes.
//
// `Cycles{5}.count` is the number; the only operations are arithmetic within a unit and scaling by integers.
// In text a quantity carries its unit ("256 KB", "1216 MHz", "20 ns"); a number without one is refused.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "base/result.h"

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

using Cycles = Quantity<struct CyclesTag>;  // cycles of the SM clock
using Picoseconds = Quantity<struct PicosecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using Hertz = Quantity<struct HertzTag>;

inline constexpr Cycles kNever{~std::uint64_t{0}};

// B, KB, MB, GB (also KiB, MiB, GiB), powers of 1024 as GPU data sheets count memory.
Result<Bytes> parse_bytes(std::string_view text);
// Hz, kHz, MHz, GHz; decimals as in "1.38 GHz" as long as they come to whole hertz.
Result<Hertz> parse_hertz(std::string_view text);
// ps, ns, us, ms, s; decimals as long as they come to whole picoseconds.
Result<Picoseconds> parse_picoseconds(std::string_view text);

}  // namespace wm
