#include "base/number.h"

namespace wm {

std::optional<double> parse_double(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = negative ? text.substr(1) : text;
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  if (digits.empty() || digits.starts_with('-')) return std::nullopt;
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                           hex ? std::chars_format::hex : std::chars_format::general);
  if (code != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace wm
