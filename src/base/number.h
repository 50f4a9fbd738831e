// Numbers from text, which must be a number from its first to its last character: no leading blanks, no trailing
// letters, no silent overflow.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

namespace wm {

// Decimal, or hexadecimal after 0x; a minus sign for signed types.
template <typename T>
std::optional<T> parse_integer(std::string_view text) {
  static_assert(std::is_integral_v<T>);
  const bool negative = std::is_signed_v<T> && text.starts_with('-');
  std::string_view digits = negative ? text.substr(1) : text;
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  unsigned long long magnitude = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
  if (code != std::errc{} || digits.empty() || end != digits.data() + digits.size()) return std::nullopt;
  const T value = static_cast<T>(negative ? 0 - magnitude : magnitude);
  // The conversion back shows whether the value fits: it has the same magnitude and sign.
  if (negative != (value < 0) && magnitude != 0) return std::nullopt;
  if (static_cast<unsigned long long>(value) != (negative ? 0 - magnitude : magnitude)) return std::nullopt;
  return value;
}

// Decimal or scientific, also hexadecimal floats (0x1p-3), inf and nan.
std::optional<double> parse_double(std::string_view text);

}  // namespace wm
