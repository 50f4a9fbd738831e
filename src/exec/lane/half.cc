// add, sub, mul, fma on f16, bf16 and their pairs. Sums and products of 16-bit floats are exact in double; a fused sum
// may not be, and is forced to odd before it is rounded.
#include "exec/lane/half.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;

// .ftz examines a result before subnormals are rounded, see float32.h.
template <bool Ftz>
WM_LANE double flush_tiny(double value) {
  if constexpr (!Ftz) return value;
  const double bound = 0x1p-14 - 0x1p-26;  // rounds up to the smallest normal f16
  const bool tiny = value < bound && value > -bound;
  return tiny ? from_bits<double>(bits_of(value) & kSign<double>) : value;
}

enum class Range : std::uint8_t { all, sat, relu };

template <Range Kind, bool Ftz, typename T>
WM_LANE T finish(double value) {
  const T result = flush<Ftz>(narrow<T, Rounding::rn>(flush_tiny<Ftz>(value)));
  if constexpr (Kind == Range::relu) return rectify<true>(result);
  return saturate<Kind == Range::sat>(result);
}

template <typename T, Opcode Op, bool Ftz, Range Kind>
WM_LANE T two(T a, T b) {
  const double x = widen(flush<Ftz>(a)), y = widen(flush<Ftz>(b));
  return finish<Kind, Ftz, T>(Op == Opcode::add ? add_odd(x, y) : Op == Opcode::sub ? add_odd(x, -y) : x * y);
}
template <typename T, FmaSigns Signs, bool Ftz, Range Kind>
WM_LANE T fused(T a, T b, T c) {
  const double x = widen(flush<Ftz>(a)), y = widen(flush<Ftz>(b)), z = widen(flush<Ftz>(c));
  return finish<Kind, Ftz, T>(add_odd(Signs.product ? -(x * y) : x * y, Signs.addend ? -z : z));
}

template <typename T, Opcode Op, bool Ftz, Range Kind>
LaneOp binary(bool pair) {
  constexpr auto kFunction = two<T, Op, Ftz, Kind>;
  return pair ? lanes<binary_x2<kFunction, T>> : lanes<kFunction>;
}
template <typename T, FmaSigns Signs, bool Ftz, Range Kind>
LaneOp signed_ternary(bool pair) {
  constexpr auto kFunction = fused<T, Signs, Ftz, Kind>;
  return pair ? lanes<ternary_x2<kFunction, T>> : lanes<kFunction>;
}
template <typename T, bool Ftz, Range Kind>
LaneOp ternary(FmaSigns signs, bool pair) {
  if (signs.product)
    return signs.addend ? signed_ternary<T, kMinusBoth, Ftz, Kind>(pair)
                        : signed_ternary<T, kMinusProduct, Ftz, Kind>(pair);
  return signs.addend ? signed_ternary<T, kMinusAddend, Ftz, Kind>(pair) : signed_ternary<T, kPlus, Ftz, Kind>(pair);
}

template <typename T, bool Ftz, Range Kind>
LaneOp of(const ptx::Instruction& instruction, bool pair) {
  const Opcode opcode = instruction.opcode;
  if constexpr (Kind != Range::relu) {
    switch (opcode) {
      case Opcode::add:
        return binary<T, Opcode::add, Ftz, Kind>(pair);
      case Opcode::sub:
        return binary<T, Opcode::sub, Ftz, Kind>(pair);
      case Opcode::mul:
        return binary<T, Opcode::mul, Ftz, Kind>(pair);
      default:
        break;
    }
  }
  return opcode == Opcode::fma ? ternary<T, Ftz, Kind>(fma_signs(instruction), pair) : nullptr;
}

}  // namespace

LaneOp half_arithmetic(Form& form) {
  const bool pair = is_pair(form.type());
  if (form.take_rounding().value_or(Rounding::rn) != Rounding::rn) return nullptr;
  if (is_brain(form.type())) {
    if (form.take(Suffix::relu)) return of<Brain, false, Range::relu>(form.instruction(), pair);
    return of<Brain, false, Range::all>(form.instruction(), pair);
  }
  const bool ftz = form.take(Suffix::ftz), sat = form.take(Suffix::sat), relu = form.take(Suffix::relu);
  return by_flag(ftz, [&](auto f) -> LaneOp {
    if (relu) return sat ? nullptr : of<Half, f(), Range::relu>(form.instruction(), pair);
    return sat ? of<Half, f(), Range::sat>(form.instruction(), pair)
               : of<Half, f(), Range::all>(form.instruction(), pair);
  });
}

}  // namespace wm::exec
