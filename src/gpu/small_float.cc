#include "gpu/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wm::gpu {
namespace {

struct Format {
  int exponent_bits;
  int fraction_bits;

  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] int sign_bit() const { return 1 << (exponent_bits + fraction_bits); }
  [[nodiscard]] int infinity() const { return ((1 << exponent_bits) - 1) << fraction_bits; }
};
constexpr Format kHalf{5, 10}, kBfloat{8, 7};

std::uint16_t encode(double value, const Format& format) {
  const int sign = std::signbit(value) ? format.sign_bit() : 0;
  const double size = std::abs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(format.sign_bit() - 1);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | format.infinity());
  if (size == 0) return static_cast<std::uint16_t>(sign);
  const int smallest = 1 - format.bias();
  const int exponent = std::max(std::ilogb(size), smallest);
  // In units of the last place; a carry into the exponent is what rounding up to a power of two needs.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, format.fraction_bits - exponent)));
  const int bits = ((exponent - smallest) << format.fraction_bits) + units;
  return static_cast<std::uint16_t>(sign | std::min(bits, format.infinity()));
}

double decode(std::uint16_t bits, const Format& format) {
  const int size = bits & (format.sign_bit() - 1);
  const double sign = (bits & format.sign_bit()) != 0 ? -1 : 1;
  if (size > format.infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (size == format.infinity()) return sign * std::numeric_limits<double>::infinity();
  const int field = size >> format.fraction_bits, fraction = size & ((1 << format.fraction_bits) - 1);
  const int units = field == 0 ? fraction : fraction + (1 << format.fraction_bits);
  return sign * std::ldexp(units, (field == 0 ? 1 : field) - format.bias() - format.fraction_bits);
}

}  // namespace

Half to_half(double value) { return {encode(value, kHalf)}; }
Bfloat to_bfloat(double value) { return {encode(value, kBfloat)}; }
double to_double(Half value) { return decode(value.bits, kHalf); }
double to_double(Bfloat value) { return decode(value.bits, kBfloat); }

}  // namespace wm::gpu
