// add, sub, mul, fma, mad, div, rcp, sqrt on f64.
#include <cmath>

#include "exec/lane/form.h"
#include "exec/lane/soft64.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;

bool finite(double x) { return magnitude(x) < kInfinity<double>; }

// Rounding to nearest, and all that is not finite, is the host's.
template <Rounding R>
WM_LANE double add(double a, double b) {
  if constexpr (R != Rounding::rn)
    if (finite(a) && finite(b)) return round_to_double(exact_sum(exact(a), exact(b), R), R);
  return settled(a + b, a, b);
}
template <Rounding R>
WM_LANE double sub(double a, double b) {
  const double sum = add<R>(a, -b);
  return b != b ? quiet(b) : sum;  // a NaN keeps its sign
}
template <Rounding R>
WM_LANE double mul(double a, double b) {
  if constexpr (R != Rounding::rn)
    if (finite(a) && finite(b)) return round_to_double(exact_product(a, b), R);
  return settled(a * b, a, b);
}
template <Rounding R>
WM_LANE double fma(double a, double b, double c) {
  if (finite(a) && finite(b) && finite(c)) return round_to_double(exact_sum(exact_product(a, b), exact(c), R), R);
  return settled(std::fma(a, b, c), a, c, b);
}
template <Rounding R>
WM_LANE double div(double a, double b) {
  if constexpr (R != Rounding::rn)
    if (finite(a) && finite(b) && b != 0) return round_to_double(exact_quotient(a, b), R);
  return settled(a / b, b, a);
}
template <Rounding R>
WM_LANE double rcp(double a) {
  return div<R>(1.0, a);
}
template <Rounding R>
WM_LANE double sqrt(double a) {
  if constexpr (R != Rounding::rn)
    if (finite(a) && a > 0) return round_to_double(exact_root(a), R);
  return settled(std::sqrt(a), a);
}

}  // namespace

LaneOp float64_arithmetic(Form& form) {
  const Rounding rounding = form.take_rounding().value_or(Rounding::rn);
  return by_rounding(rounding, [&](auto r) -> LaneOp {
    switch (form.opcode()) {
      case Opcode::add:
        return lanes<add<r()>>;
      case Opcode::sub:
        return lanes<sub<r()>>;
      case Opcode::mul:
        return lanes<mul<r()>>;
      case Opcode::mad:
      case Opcode::fma:
        if constexpr (r() == Rounding::rn)
          return float64_fma_nearest(fma_signs(form.instruction()));
        else
          return lanes<fma<r()>>;
      case Opcode::div:
        return lanes<div<r()>>;
      case Opcode::rcp:
        return lanes<rcp<r()>>;
      case Opcode::sqrt:
        return lanes<sqrt<r()>>;
      default:
        return nullptr;
    }
  });
}

}  // namespace wm::exec
