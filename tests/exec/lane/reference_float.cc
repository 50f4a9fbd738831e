// Floating-point arithmetic with MPFR, extremes and signs on bits.
#include <cmath>

#include "exec/lane/real.h"

namespace wm::exec::test {

namespace {

std::uint64_t quiet(std::uint64_t nan) { return nan | std::uint64_t{1} << 51; }

// f64 propagates a NaN; which of several was measured.
std::optional<std::uint64_t> handed_on(const Format& format, const Name& name, const std::vector<std::uint64_t>& v) {
  std::vector<std::size_t> order = {0};
  if (v.size() == 2) order = name.opcode == "div" ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{1, 0};
  if (v.size() == 3) order = {1, 2, 0};
  for (const std::size_t i : order)
    if (format.width == 64 && is_nan(format, v[i])) return quiet(v[i]);
  return std::nullopt;
}

std::uint64_t flushed(const Format& format, std::uint64_t bits, bool ftz) {
  return ftz && is_subnormal(format, bits) ? bits & format.sign_bit() : bits;
}

// .ftz, .relu, .sat of a result, and the canonical NaN.
std::uint64_t finished_float(const Format& format, const Name& name, double value) {
  if (name.has("sat")) {
    if (std::isnan(value) || value <= 0) return 0;
    return flushed(format, encode(format, std::fmin(value, 1.0)), name.has("ftz"));
  }
  if (std::isnan(value)) return format.nan;
  if (name.has("relu") && std::signbit(value)) return 0;
  return flushed(format, encode(format, value), name.has("ftz"));
}

std::optional<double> arithmetic(const Format& format, const Name& name, const std::vector<double>& v) {
  Real a, b, c;
  Real::set(a, v[0]);
  if (v.size() > 1) Real::set(b, v[1]);
  if (v.size() > 2) Real::set(c, v[2]);
  const std::string& op = name.opcode;
  const auto compute = [&](auto&& function) { return rounded(format, direction_of(name), function, name.has("ftz")); };
  if (op == "add") return compute([&](mpfr_ptr r, mpfr_rnd_t m) { return mpfr_add(r, a.get(), b.get(), m); });
  if (op == "sub") return compute([&](mpfr_ptr r, mpfr_rnd_t m) { return mpfr_sub(r, a.get(), b.get(), m); });
  if (op == "mul") return compute([&](mpfr_ptr r, mpfr_rnd_t m) { return mpfr_mul(r, a.get(), b.get(), m); });
  if (op == "div") return compute([&](mpfr_ptr r, mpfr_rnd_t m) { return mpfr_div(r, a.get(), b.get(), m); });
  if (op == "sqrt") return compute([&](mpfr_ptr r, mpfr_rnd_t m) { return mpfr_sqrt(r, a.get(), m); });
  if (op == "rcp") return compute([&](mpfr_ptr r, mpfr_rnd_t m) { return mpfr_ui_div(r, 1, a.get(), m); });
  if (op == "fma" || op == "mad")
    return compute([&](mpfr_ptr r, mpfr_rnd_t m) { return mpfr_fma(r, a.get(), b.get(), c.get(), m); });
  return std::nullopt;
}

std::uint64_t extreme(const Format& format, const Name& name, std::uint64_t a, std::uint64_t b) {
  const bool nan_a = is_nan(format, a), nan_b = is_nan(format, b);
  if (format.width == 64 && nan_a && nan_b) return quiet(b);
  if ((nan_a && nan_b) || (name.has("NaN") && (nan_a || nan_b))) return format.nan;
  const std::uint64_t sign = (a ^ b) & format.sign_bit();
  const bool absolute = name.has("xorsign");
  if (absolute) a &= ~format.sign_bit(), b &= ~format.sign_bit();
  std::uint64_t result = 0;
  if (nan_a || nan_b) {
    result = nan_a ? b : a;
  } else {
    const double x = decode(format, a), y = decode(format, b);
    const bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
    result = less == (name.opcode == "min") ? a : b;
  }
  return absolute ? result | sign : result;
}

std::optional<std::uint64_t> signs(const Format& format, const Name& name, const std::vector<std::uint64_t>& v) {
  const bool changes = name.opcode == "neg" || name.opcode == "abs";
  if (changes && is_nan(format, v[0])) return format.width == 64 ? quiet(v[0]) : format.nan;
  if (name.opcode == "neg") return v[0] ^ format.sign_bit();
  if (name.opcode == "abs") return v[0] & ~format.sign_bit();
  if (name.opcode == "copysign") return (v[0] & format.sign_bit()) | (v[1] & ~format.sign_bit());
  if (name.opcode != "testp") return std::nullopt;
  const bool nan = is_nan(format, v[0]), infinite = is_infinite(format, v[0]), subnormal = is_subnormal(format, v[0]);
  if (name.has("finite")) return !nan && !infinite ? 1 : 0;
  if (name.has("infinite")) return infinite ? 1 : 0;
  if (name.has("number")) return nan ? 0 : 1;
  if (name.has("notanumber")) return nan ? 1 : 0;
  if (name.has("subnormal")) return subnormal ? 1 : 0;
  return !nan && !infinite && !subnormal ? 1 : 0;  // zero counts as normal
}

std::optional<std::uint64_t> one(const Format& format, const Name& name, std::vector<std::uint64_t> v) {
  for (auto& bits : v) bits = flushed(format, bits, name.has("ftz"));
  if (const auto changed = signs(format, name, v); changed) return changed;
  if (name.opcode == "min" || name.opcode == "max") return extreme(format, name, v[0], v[1]);
  if (const auto nan = handed_on(format, name, v); nan) return nan;
  std::vector<double> values;
  for (const auto bits : v) values.push_back(decode(format, bits));
  const auto result = arithmetic(format, name, values);
  return result ? std::optional(finished_float(format, name, *result)) : std::nullopt;
}

}  // namespace

Direction direction_of(const Name& name) {
  if (name.has("rz") || name.has("rzi")) return Direction::zero;
  if (name.has("rm") || name.has("rmi")) return Direction::down;
  if (name.has("rp") || name.has("rpi")) return Direction::up;
  return Direction::nearest;
}

mpfr_rnd_t mode_of(Direction direction) {
  switch (direction) {
    case Direction::zero:
      return MPFR_RNDZ;
    case Direction::down:
      return MPFR_RNDD;
    case Direction::up:
      return MPFR_RNDU;
    default:
      return MPFR_RNDN;
  }
}

std::optional<Outputs> float_reference(const Form&, const Name& name, const Element& in) {
  const std::string& type = name.types.back();
  if (type[0] != 'f' && type[0] != 'b') return std::nullopt;
  if (type == "b16" || type == "b32" || type == "b64") return std::nullopt;
  if (name.opcode == "mov") return std::nullopt;
  const Format format = format_of(type);
  const bool pair = type.size() > 2 && type.substr(type.size() - 2) == "x2";
  Outputs outputs = {0};
  for (int half = 0; half < (pair ? 2 : 1); ++half) {
    std::vector<std::uint64_t> v;
    for (const auto value : in) v.push_back(pair ? value >> (16 * half) & 0xffffU : value);
    const auto result = one(format, name, v);
    if (!result) return std::nullopt;
    outputs[0] |= *result << (16 * half);
  }
  return outputs;
}

}  // namespace wm::exec::test
