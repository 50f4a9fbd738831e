// PTX's stated errors of the approximations, against MPFR.
#include <algorithm>
#include <cmath>

#include "exec/lane/real.h"

namespace wm::exec::test {

namespace {

struct Bound {
  double absolute = 0;
  double relative = 0;
  double ulps = 0;
};

Bound bound_of(const Name& name, double x) {
  const std::string &op = name.opcode, &type = name.types.back();
  if (type == "f64") return {0, 0x1p-19, 0};
  if (op == "tanh") return type == "f32" ? Bound{0, 0x1p-11, 0} : Bound{type[0] == 'f' ? 0x1.02p-11 : 0x1p-8, 0, 0};
  if (op == "ex2" && type != "f32") return {type[0] == 'f' ? 0x1p-24 : 0, type[0] == 'f' ? 0x1.13p-10 : 0x1p-7, 0};
  if (op == "div") return {0, 0, 2};
  if (op == "rcp") return {0, 0, 1};
  if (op == "sqrt") return {0, 0x1p-22, 1};
  if (op == "rsqrt") return {0, 0x1.13p-23, 1};
  if (op == "sin" || op == "cos") return {std::fabs(x) <= 6.2831854 ? 0x1.6ap-21 : 0x1.3ap-15, 0, 0};
  if (op == "lg2") return x > 0.5 && x < 2 ? Bound{0x1p-22, 0, 0} : Bound{0, 0x1p-22, 0};
  return {0, 0x1p-22, 1};  // ex2
}

void evaluate(const Name& name, mpfr_ptr r, double x, double y) {
  Real a, b;
  Real::set(a, x), Real::set(b, y);
  const std::string& op = name.opcode;
  if (op == "div") mpfr_div(r, a.get(), b.get(), MPFR_RNDN);
  if (op == "rcp") mpfr_ui_div(r, 1, a.get(), MPFR_RNDN);
  if (op == "sqrt") mpfr_sqrt(r, a.get(), MPFR_RNDN);
  if (op == "rsqrt") {
    mpfr_sqrt(r, a.get(), MPFR_RNDN);
    mpfr_ui_div(r, 1, r, MPFR_RNDN);
  }
  if (op == "sin") mpfr_sin(r, a.get(), MPFR_RNDN);
  if (op == "cos") mpfr_cos(r, a.get(), MPFR_RNDN);
  if (op == "lg2") mpfr_log2(r, a.get(), MPFR_RNDN);
  if (op == "ex2") mpfr_exp2(r, a.get(), MPFR_RNDN);
  if (op == "tanh") mpfr_tanh(r, a.get(), MPFR_RNDN);
}

double input(const Format& format, const Name& name, std::uint64_t bits) {
  if (format.width == 64 && name.has("ftz")) bits &= ~std::uint64_t{0xffffffffU};  // these see the upper half only
  const double value = decode(format, bits);
  return name.has("ftz") && is_subnormal(format, bits) ? std::copysign(0.0, value) : value;
}

// The smallest number that differs from zero: with .ftz subnormals are zero.
double smallest(const Format& format, const Name& name) {
  return std::ldexp(1.0, 1 - format.bias() - (name.has("ftz") ? 0 : format.fraction));
}

bool one(const Name& name, const Format& format, const std::vector<std::uint64_t>& in, std::uint64_t bits,
         std::string& why) {
  const double x = input(format, name, in[0]), y = in.size() > 1 ? input(format, name, in[1]) : 0;
  Real exact, error;
  evaluate(name, exact.get(), x, y);
  const double wanted = mpfr_get_d(exact.get(), MPFR_RNDN), got = decode(format, bits);
  why = "wanted " + std::to_string(wanted) + ", got " + std::to_string(got);
  const double largest = std::ldexp(2.0 - std::ldexp(1.0, -format.fraction), format.bias());
  if (name.opcode == "div" && name.has("approx") && std::fabs(y) > 0x1p126 && std::isfinite(y))
    return std::isfinite(x) ? got == 0 : std::isnan(got);
  if (std::isnan(wanted)) return std::isnan(got);
  if (std::isnan(got)) return false;
  if (std::fabs(wanted) > largest)
    return std::isinf(got) ? std::signbit(got) == std::signbit(wanted)
                           : std::isfinite(wanted) && std::fabs(got) == largest;
  if (std::isinf(got)) return std::fabs(wanted) >= largest * (1 - std::ldexp(1.0, -format.fraction));
  const Bound bound = bound_of(name, x);
  const double ulp =
      std::ldexp(1.0, std::max(wanted == 0 ? -1074 : std::ilogb(wanted), 1 - format.bias()) - format.fraction);
  mpfr_sub_d(error.get(), exact.get(), got, MPFR_RNDN);
  const double distance = std::fabs(mpfr_get_d(error.get(), MPFR_RNDN));
  const double allowed = std::max({bound.absolute, bound.relative * std::fabs(wanted), bound.ulps * ulp});
  if (distance <= allowed) return true;
  // Results that are too small for the format, or flushed.
  return std::fabs(wanted) < smallest(format, name) * (1 + 0x1p-20) && std::fabs(got) <= smallest(format, name);
}

}  // namespace

bool within_bound(const Form&, const Name& name, const Element& in, std::uint64_t bits, std::string& why) {
  const std::string& type = name.types.back();
  const Format format = format_of(type);
  const bool pair = type.size() > 2 && type.substr(type.size() - 2) == "x2";
  for (int half = 0; half < (pair ? 2 : 1); ++half) {
    std::vector<std::uint64_t> v;
    for (const auto value : in) v.push_back(pair ? value >> (16 * half) & 0xffffU : value);
    if (!one(name, format, v, pair ? bits >> (16 * half) & 0xffffU : bits, why)) return false;
  }
  return true;
}

}  // namespace wm::exec::test
