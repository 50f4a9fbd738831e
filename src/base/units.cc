#include "base/units.h"

#include <array>
#include <span>
#include <string>

namespace wm {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t scale;
};

constexpr std::uint64_t kKilo = 1024;
constexpr std::array kBytes{
    Unit{"B", 1},       Unit{"KB", kKilo},         Unit{"MB", kKilo* kKilo},        Unit{"GB", kKilo* kKilo* kKilo},
    Unit{"KiB", kKilo}, Unit{"MiB", kKilo* kKilo}, Unit{"GiB", kKilo* kKilo* kKilo}};
constexpr std::array kHertz{Unit{"Hz", 1}, Unit{"kHz", 1'000}, Unit{"MHz", 1'000'000}, Unit{"GHz", 1'000'000'000}};
constexpr std::array kTime{Unit{"ps", 1}, Unit{"ns", 1'000}, Unit{"us", 1'000'000}, Unit{"ms", 1'000'000'000},
                           Unit{"s", 1'000'000'000'000}};

std::string names(std::span<const Unit> units) {
  std::string list;
  for (const Unit& unit : units) list += (list.empty() ? "" : ", ") + std::string(unit.name);
  return list;
}

// The exact product of a decimal number and a scale; without floating point, so that the result is exact.
Result<std::uint64_t> scaled(std::string_view number, std::uint64_t scale) {
  const Error too_large{"'" + std::string(number) + "' is too large"};
  std::uint64_t value = 0;
  std::uint64_t decimals = 1;  // 10 to the number of digits behind the point
  bool point = false;
  for (const char c : number) {
    if (c == '.') {
      point = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return too_large;
    if (__builtin_add_overflow(value, digit, &value)) return too_large;
    if (point && __builtin_mul_overflow(decimals, std::uint64_t{10}, &decimals)) return too_large;
  }
  if (__builtin_mul_overflow(value, scale, &value)) return too_large;
  if (value % decimals != 0) return Error{"'" + std::string(number) + "' does not come to a whole number"};
  return value / decimals;
}

bool is_number(std::string_view text) {
  const auto point = text.find('.');
  const auto digits = [](std::string_view s) {
    return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (point == std::string_view::npos) return digits(text);
  return digits(text.substr(0, point)) && digits(text.substr(point + 1));
}

Result<std::uint64_t> parse(std::string_view text, std::span<const Unit> units, const char* example) {
  const auto end = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, end);
  if (!is_number(number)) return Error{"'" + std::string(text) + "' is no quantity such as " + example};
  if (end == std::string_view::npos) return Error{"'" + std::string(text) + "' lacks a unit (" + names(units) + ")"};
  std::string_view name = text.substr(end);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  for (const Unit& unit : units) {
    if (unit.name == name) return scaled(number, unit.scale);
  }
  return Error{"unknown unit '" + std::string(name) + "' in '" + std::string(text) + "' (" + names(units) + ")"};
}

template <typename Q>
Result<Q> as(const Result<std::uint64_t>& value) {
  if (!value) return value.error();
  return Q{*value};
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) { return as<Bytes>(parse(text, kBytes, "'256 KB'")); }
Result<Hertz> parse_hertz(std::string_view text) { return as<Hertz>(parse(text, kHertz, "'1216 MHz'")); }
Result<Picoseconds> parse_picoseconds(std::string_view text) { return as<Picoseconds>(parse(text, kTime, "'20 ns'")); }

}  // namespace wm
