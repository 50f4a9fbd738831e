// The approximations: rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh with .approx. PTX gives them an error bound, not bits;
// here they are as near as double precision takes them.
#include <cmath>

#include "exec/lane/elementary.h"
#include "exec/lane/float32.h"
#include "exec/lane/half.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

WM_LANE double infinity() { return from_bits<double>(kInfinity<double>); }
WM_LANE double no_number() { return from_bits<double>(Layout<double>::kNan); }
WM_LANE double not_finite_to_nan(double x, double value) { return x - x == 0 ? value : no_number(); }

template <Opcode Op>
WM_LANE double evaluate(double x) {
  switch (Op) {
    case Opcode::rcp:
      return 1.0 / x;
    case Opcode::sqrt:
      return std::sqrt(x);
    case Opcode::rsqrt:
      return 1.0 / std::sqrt(x);
    case Opcode::sin:
      return not_finite_to_nan(x, x == 0 ? x : sine_of<0>(x));
    case Opcode::cos:
      return not_finite_to_nan(x, sine_of<1>(x));
    case Opcode::ex2:
      return exp2_of(x);
    case Opcode::tanh:
      return x == 0 ? x : tanh_of(x);
    default:
      break;
  }
  const double logarithm = log2_of(x > 0 && x < infinity() ? x : 1.0);
  const double special = x == 0 ? -infinity() : x > 0 ? infinity() : no_number();
  return x > 0 && x < infinity() ? logarithm : special;
}

template <Opcode Op, bool Ftz>
WM_LANE float single(float a) {
  return finish<Ftz, false>(static_cast<float>(evaluate<Op>(flush<Ftz>(a))));
}
template <Opcode Op, typename T, bool Ftz>
WM_LANE T half(T a) {
  return flush<Ftz>(narrow<T, Rounding::rn>(evaluate<Op>(widen(flush<Ftz>(a)))));
}

// The f64 forms look at the upper half of their argument and give the upper half of a result, of a NaN too.
WM_LANE double upper(double x) { return from_bits<double>(bits_of(x) & 0xffffffff00000000ULL); }
template <Opcode Op>
WM_LANE double upper_half(double a) {
  const double x = flush<true>(upper(a));
  const double result = upper(flush<true>(evaluate<Op>(x)));
  return is_nan(result) ? from_bits<double>(0x7fffffff00000000ULL) : result;
}
WM_LANE double rsqrt64(double a) { return settled(evaluate<Opcode::rsqrt>(a), a); }

template <Opcode Op>
LaneOp in_single(bool ftz) {
  return ftz ? lanes<single<Op, true>> : lanes<single<Op, false>>;
}
template <Opcode Op, typename T, bool Ftz>
LaneOp in_half(bool pair) {
  return pair ? lanes<unary_x2<half<Op, T, Ftz>, T>> : lanes<half<Op, T, Ftz>>;
}

LaneOp of_single(Opcode opcode, bool ftz) {
  switch (opcode) {
    case Opcode::rcp:
      return in_single<Opcode::rcp>(ftz);
    case Opcode::sqrt:
      return in_single<Opcode::sqrt>(ftz);
    case Opcode::rsqrt:
      return in_single<Opcode::rsqrt>(ftz);
    case Opcode::sin:
      return in_single<Opcode::sin>(ftz);
    case Opcode::cos:
      return in_single<Opcode::cos>(ftz);
    case Opcode::lg2:
      return in_single<Opcode::lg2>(ftz);
    case Opcode::ex2:
      return in_single<Opcode::ex2>(ftz);
    case Opcode::tanh:
      return ftz ? nullptr : in_single<Opcode::tanh>(false);
    default:
      return nullptr;
  }
}

LaneOp of_double(Opcode opcode, bool ftz) {
  if (opcode == Opcode::rcp && ftz) return lanes<upper_half<Opcode::rcp>>;
  if (opcode == Opcode::rsqrt) return ftz ? lanes<upper_half<Opcode::rsqrt>> : lanes<rsqrt64>;
  return nullptr;
}

LaneOp of_half(Opcode opcode, Type type, bool ftz) {
  const bool pair = is_pair(type), brain = is_brain(type);
  if (opcode == Opcode::tanh && !ftz)
    return brain ? in_half<Opcode::tanh, Brain, false>(pair) : in_half<Opcode::tanh, Half, false>(pair);
  if (opcode != Opcode::ex2) return nullptr;
  if (brain) return ftz ? in_half<Opcode::ex2, Brain, true>(pair) : nullptr;
  return ftz ? in_half<Opcode::ex2, Half, true>(pair) : in_half<Opcode::ex2, Half, false>(pair);
}

}  // namespace

LaneOp approximation(Form& form) {
  if (!form.take(Suffix::approx)) return nullptr;
  const bool ftz = form.take(Suffix::ftz);
  if (form.type() == Type::f32) return of_single(form.opcode(), ftz);
  return form.type() == Type::f64 ? of_double(form.opcode(), ftz) : of_half(form.opcode(), form.type(), ftz);
}

}  // namespace wm::exec
