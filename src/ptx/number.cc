#include "ptx/number.h"

#include <bit>
#include <charconv>

namespace wm::ptx {
namespace {

std::optional<std::uint64_t> digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Literal> decimal_float(std::string_view text) {
  // Only what C++ and PTX both read: digits, one point, an exponent.
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return Literal{Literal::Kind::f64, std::bit_cast<std::uint64_t>(value)};
}

std::optional<Literal> integer(std::string_view text) {
  if (text.ends_with('U') || text.ends_with('u')) text.remove_suffix(1);
  std::optional<std::uint64_t> value;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    value = digits(text.substr(2), 16);
  } else if (text.starts_with("0b") || text.starts_with("0B")) {
    value = digits(text.substr(2), 2);
  } else if (text.size() > 1 && text.starts_with('0')) {
    value = digits(text.substr(1), 8);
  } else {
    value = digits(text, 10);
  }
  if (!value) return std::nullopt;
  return Literal{Literal::Kind::integer, *value};
}

}  // namespace

std::optional<Literal> literal(std::string_view text) {
  const auto pattern = [&](std::size_t width, Literal::Kind kind) -> std::optional<Literal> {
    const auto bits = text.size() == width + 2 ? digits(text.substr(2), 16) : std::nullopt;
    if (!bits) return std::nullopt;
    return Literal{kind, *bits};
  };
  if (text.starts_with("0f") || text.starts_with("0F")) return pattern(8, Literal::Kind::f32);
  if (text.starts_with("0d") || text.starts_with("0D")) return pattern(16, Literal::Kind::f64);
  if (text.find('.') != std::string_view::npos) return decimal_float(text);
  return integer(text);
}

std::uint64_t f32_bits(const Literal& value) {
  if (value.kind != Literal::Kind::f64) return value.bits;
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
}

std::uint64_t f64_bits(const Literal& value) {
  if (value.kind != Literal::Kind::f32) return value.bits;
  const auto narrow = static_cast<std::uint32_t>(value.bits);
  return std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(narrow)));
}

}  // namespace wm::ptx
