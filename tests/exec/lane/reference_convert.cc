// cvt and cvt.pack: through exact numbers, rounded with MPFR.
#include <algorithm>
#include <cmath>

#include "exec/lane/real.h"

namespace wm::exec::test {

namespace {

bool is_integer(const std::string& type) { return type[0] == 'u' || type[0] == 's'; }
// To the width of the register, with the sign or the zeros of the type.
std::uint64_t extended(const Form& form, const std::string& type, Int value) {
  return wrapped(value_of(type, wrapped(value, width_of(type))), width_of(form.destinations[0].type));
}

std::uint64_t to_integer(const Form& form, const Name& name, double x) {
  const std::string& type = name.type();
  if (std::isnan(x)) {
    const bool wide = width_of(type) == 64 || name.type(1) == "f64";
    return wide ? extended(form, type, static_cast<Int>(1) << (width_of(type) - 1)) : 0;
  }
  Real exact;
  Real::set(exact, x);
  mpfr_rint(exact.get(), exact.get(), mode_of(direction_of(name)));
  if (mpfr_cmp_d(exact.get(), 0x1p65) > 0) return extended(form, type, highest(type));
  if (mpfr_cmp_d(exact.get(), -0x1p65) < 0) return extended(form, type, lowest(type));
  const double rounded = mpfr_get_d(exact.get(), MPFR_RNDN);
  return extended(form, type, std::clamp(static_cast<Int>(rounded), lowest(type), highest(type)));
}

// A result after the modifiers, as bits.
std::uint64_t finished(const Format& format, const Name& name, double value) {
  const bool ftz = name.has("ftz") && format.fraction == 23;
  if (name.has("sat")) value = std::isnan(value) || value <= 0 ? 0.0 : std::fmin(value, 1.0);
  if (std::isnan(value)) return format.nan;
  if (name.has("relu") && std::signbit(value)) value = 0;
  if (name.has("satfinite") || format.exponent == 4) {
    const double largest =
        format.exponent == 4 ? 448.0 : std::ldexp(2.0 - std::ldexp(1.0, -format.fraction), format.bias());
    value = std::clamp(value, -largest, largest);
  }
  const std::uint64_t bits = encode(format, value);
  return ftz && is_subnormal(format, bits) ? bits & format.sign_bit() : bits;
}

std::uint64_t to_float(const Name& name, const Format& to, double x) {
  Real exact;
  Real::set(exact, x);
  const bool flush = name.has("ftz") && to.fraction == 23;
  const auto convert = [&](mpfr_ptr r, mpfr_rnd_t m) { return mpfr_set(r, exact.get(), m); };
  return finished(to, name, rounded(to, direction_of(name), convert, flush));
}

std::uint64_t from_integer(const Name& name, const Format& to, Int value) {
  const auto convert = [&](mpfr_ptr r, mpfr_rnd_t m) {
    Real exact;
    const auto size = static_cast<std::uint64_t>(value < 0 ? -value : value);
    mpfr_set_ui_2exp(exact.get(), static_cast<unsigned long>(size), 0, MPFR_RNDN);
    if (value < 0) mpfr_neg(exact.get(), exact.get(), MPFR_RNDN);
    return mpfr_set(r, exact.get(), m);
  };
  return finished(to, name, rounded(to, direction_of(name), convert));
}

double loaded(const Name& name, const std::string& type, std::uint64_t bits) {
  const Format format = format_of(type);
  const double value = decode(format, bits);
  const bool flush = type == "f32" && name.has("ftz") && name.type() != "f16";
  return flush && is_subnormal(format, bits) ? std::copysign(0.0, value) : value;
}

// f64 keeps the payload of a NaN, cut or extended, with its top bit set; a move keeps all; else there is one NaN.
std::optional<std::uint64_t> converted_nan(const Name& name, std::uint64_t bits) {
  const Format to = format_of(name.type(0)), from = format_of(name.type(1));
  if (!is_nan(from, bits) || name.has("sat")) return std::nullopt;
  if (name.type(1) == "bf16" && name.type(0) == "f32") return bits << 16;
  if (name.words.empty() && name.type(0) == name.type(1) && to.width >= 32) return bits;
  if (to.width != 64 && from.width != 64) return std::nullopt;
  if (name.has("ftz") && to.width == 64) return 0x7fffffffe0000000ULL;
  const std::uint64_t sign = (bits & from.sign_bit()) != 0 ? to.sign_bit() : 0;
  std::uint64_t payload = bits & ((std::uint64_t{1} << from.fraction) - 1);
  payload =
      to.fraction > from.fraction ? payload << (to.fraction - from.fraction) : payload >> (from.fraction - to.fraction);
  const std::uint64_t full = ((std::uint64_t{1} << to.exponent) - 1) << to.fraction;
  return sign | full | payload | std::uint64_t{1} << (to.fraction - 1);
}

// rna to tf32 on the bits: half a unit more, cut; a full exponent is only cut, and one unit less with .satfinite.
std::uint64_t away_to_tf32(const Name& name, std::uint64_t bits) {
  const auto full = [](std::uint64_t x) { return (x >> 23 & 0xffU) == 0xffU; };
  std::uint64_t result = (full(bits) ? bits : bits + 0x1000U) / 0x2000U * 0x2000U;
  if (name.has("satfinite") && full(result)) result -= 0x2000U;
  return result;
}

// The same format on both sides: rounds to an integral value if the instruction has a rounding mode.
std::uint64_t same(const Name& name, const Format& format, double x) {
  for (const char* word : {"rni", "rzi", "rmi", "rpi"}) {
    if (!name.has(word)) continue;
    Real exact;
    Real::set(exact, x);
    mpfr_rint(exact.get(), exact.get(), mode_of(direction_of(name)));
    const double rounded = mpfr_get_d(exact.get(), MPFR_RNDN);
    return finished(format, name, std::isnan(x) ? x : std::copysign(rounded, x));
  }
  return finished(format, name, x);
}

Outputs pairs(const Name& name, const Element& in) {
  const std::string &to = name.type(0), &from = name.type(1);
  const Format format = format_of(to);
  std::uint64_t result = 0;
  for (int half = 0; half < 2; ++half) {
    double value = 0;
    if (from == "f32")
      value = loaded(name, from, in[half == 0 ? 1 : 0]);
    else
      value = decode(format_of(from), in[0] >> (format_of(from).width * half) & ((1U << format_of(from).width) - 1));
    result |= to_float(name, format, value) << (format.width * half);
  }
  return {result};
}

Outputs packed(const Name& name, const Element& in) {
  const std::string& type = name.type();
  const auto part = [&](std::uint64_t bits) {
    return wrapped(std::clamp(value_of("s32", bits), lowest(type), highest(type)), width_of(type));
  };
  const std::uint64_t both = part(in[0]) << width_of(type) | part(in[1]);
  return {in.size() > 2 ? (in[2] << 16 | both) & 0xffffffffU : both};
}

}  // namespace

std::optional<Outputs> convert_reference(const Form& form, const Name& name, const Element& in) {
  if (name.opcode != "cvt") return std::nullopt;
  if (name.has("pack")) return packed(name, in);
  const std::string &to = name.type(0), &from = name.type(1);
  if (is_pair(to) || is_pair(from)) return pairs(name, in);
  if (is_integer(from)) {
    const Int value = value_of(from, in[0]);
    if (!is_integer(to)) return Outputs{from_integer(name, format_of(to), value)};
    return Outputs{extended(form, to, name.has("sat") ? std::clamp(value, lowest(to), highest(to)) : value)};
  }
  if (name.has("rna")) return Outputs{away_to_tf32(name, in[0])};
  if (!is_integer(to))
    if (const auto nan = converted_nan(name, in[0]); nan) return Outputs{*nan};
  const double x = loaded(name, from, in[0]);
  if (is_integer(to)) return Outputs{to_integer(form, name, x)};
  return Outputs{to == from ? same(name, format_of(to), x) : to_float(name, format_of(to), x)};
}

}  // namespace wm::exec::test
