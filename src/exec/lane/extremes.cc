// min and max on floats: with a NaN and a number the result is the number, or with .NaN the NaN; minus zero is below
// zero.
#include "exec/lane/half.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

// Bits as a signed number in the order of the floats they stand for.
template <typename T>
WM_LANE auto order(T x) {
  using Signed = std::make_signed_t<Bits<T>>;
  const auto bits = static_cast<Signed>(bits_of(x));
  return static_cast<Signed>(bits ^
                             static_cast<Signed>((bits >> (sizeof(T) * 8 - 1)) & static_cast<Signed>(~kSign<T>)));
}

// The result for two NaNs.
template <typename T>
WM_LANE T no_number(T, T) {
  return from_bits<T>(Layout<T>::kNan);
}
template <>
WM_LANE double no_number(double, double b) {
  return quiet(b);
}

template <typename T, bool Max, bool Ftz, bool Nan, bool XorSign>
WM_LANE T extreme(T a, T b) {
  T x = flush<Ftz>(a), y = flush<Ftz>(b);
  const auto sign = static_cast<Bits<T>>((bits_of(x) ^ bits_of(y)) & kSign<T>);
  if constexpr (XorSign) x = from_bits<T>(magnitude(x)), y = from_bits<T>(magnitude(y));
  const bool first = Max ? order(x) > order(y) : order(x) < order(y);
  T result = first ? x : y;
  if constexpr (XorSign) result = from_bits<T>(static_cast<Bits<T>>(bits_of(result) | sign));
  const bool nan_a = is_nan(a), nan_b = is_nan(b);
  const T none = no_number(a, b);
  if constexpr (Nan) return nan_a || nan_b ? none : result;
  const auto keep = [&](T number) {
    return XorSign ? from_bits<T>(static_cast<Bits<T>>(magnitude(number) | sign)) : number;
  };
  result = nan_a ? keep(y) : nan_b ? keep(x) : result;
  return nan_a && nan_b ? none : result;
}

template <typename T, bool Max, bool Ftz, bool Nan, bool XorSign>
WM_LANE T extreme_of_three(T a, T b, T c) {
  return extreme<T, Max, Ftz, Nan, XorSign>(extreme<T, Max, Ftz, Nan, XorSign>(a, b), c);
}

template <typename T, bool Max, bool Ftz, bool Nan, bool XorSign>
LaneOp arity(const Form& form) {
  const std::size_t operands = form.instruction().operands.size();
  constexpr auto kFunction = extreme<T, Max, Ftz, Nan, XorSign>;
  if constexpr (std::is_same_v<T, float>)
    if (operands == 4) return lanes<extreme_of_three<T, Max, Ftz, Nan, XorSign>>;
  if (operands != 3) return nullptr;
  if constexpr (sizeof(T) == 2) return is_pair(form.type()) ? lanes<binary_x2<kFunction, T>> : lanes<kFunction>;
  return lanes<kFunction>;
}

template <typename T>
LaneOp with_flags(Form& form) {
  const bool ftz = form.take(Suffix::ftz), nan = form.take(Suffix::NaN);
  const bool xorsign = form.take(Suffix::xorsign) && form.take(Suffix::abs);
  return by_flag(form.opcode() == Opcode::max, [&](auto m) {
    return by_flag(ftz, [&](auto f) {
      return by_flag(nan, [&](auto n) {
        return by_flag(xorsign, [&](auto x) -> LaneOp {
          return arity<T, decltype(m)::value, decltype(f)::value, decltype(n)::value, x()>(form);
        });
      });
    });
  });
}

}  // namespace

LaneOp float_extremes(Form& form) {
  if (form.type() == Type::f32) return with_flags<float>(form);
  if (form.type() == Type::f64)
    return form.opcode() == Opcode::max ? arity<double, true, false, false, false>(form)
                                        : arity<double, false, false, false, false>(form);
  return is_brain(form.type()) ? with_flags<Brain>(form) : with_flags<Half>(form);
}

}  // namespace wm::exec
