// neg, abs, copysign, testp on floats.
#include "exec/lane/half.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

// A NaN has no sign to change: it becomes the NaN that arithmetic would make of it.
template <typename T>
WM_LANE T unless_nan(T a, T result) {
  if constexpr (std::is_same_v<T, double>) return is_nan(a) ? quiet(a) : result;
  return is_nan(a) ? from_bits<T>(Layout<T>::kNan) : result;
}
template <typename T, bool Ftz>
WM_LANE T negate(T a) {
  return unless_nan(a, from_bits<T>(static_cast<Bits<T>>(bits_of(flush<Ftz>(a)) ^ kSign<T>)));
}
template <typename T, bool Ftz>
WM_LANE T absolute(T a) {
  return unless_nan(a, from_bits<T>(magnitude(flush<Ftz>(a))));
}
// The sign of a, the value of b.
template <typename T>
WM_LANE T copy_sign(T a, T b) {
  return from_bits<T>(static_cast<Bits<T>>((bits_of(a) & kSign<T>) | magnitude(b)));
}

template <typename T, Suffix Property>
WM_LANE Flag test(T a) {
  const Bits<T> size = magnitude(a);
  switch (Property) {
    case Suffix::finite:
      return {size < kInfinity<T>};
    case Suffix::infinite:
      return {size == kInfinity<T>};
    case Suffix::number:
      return {size <= kInfinity<T>};
    case Suffix::notanumber:
      return {size > kInfinity<T>};
    case Suffix::normal:
      return {(size == 0 || size >= kSmallestNormal<T>)&&size < kInfinity<T>};  // zero counts as normal
    default:
      return {size < kSmallestNormal<T> && size != 0};
  }
}

template <typename T>
LaneOp tested(Form& form) {
  if (form.take(Suffix::finite)) return lanes<test<T, Suffix::finite>>;
  if (form.take(Suffix::infinite)) return lanes<test<T, Suffix::infinite>>;
  if (form.take(Suffix::number)) return lanes<test<T, Suffix::number>>;
  if (form.take(Suffix::notanumber)) return lanes<test<T, Suffix::notanumber>>;
  if (form.take(Suffix::normal)) return lanes<test<T, Suffix::normal>>;
  return form.take(Suffix::subnormal) ? lanes<test<T, Suffix::subnormal>> : nullptr;
}

template <typename T, bool Ftz>
LaneOp changed(Opcode opcode, bool pair) {
  if constexpr (sizeof(T) == 2)
    if (pair) return opcode == Opcode::neg ? lanes<unary_x2<negate<T, Ftz>, T>> : lanes<unary_x2<absolute<T, Ftz>, T>>;
  return opcode == Opcode::neg ? lanes<negate<T, Ftz>> : lanes<absolute<T, Ftz>>;
}

template <typename T>
LaneOp of_scalar(Form& form) {
  if (form.opcode() == Opcode::testp) return tested<T>(form);
  if (form.opcode() == Opcode::copysign) return lanes<copy_sign<T>>;
  if constexpr (std::is_same_v<T, float>)
    if (form.take(Suffix::ftz)) return changed<T, true>(form.opcode(), false);
  return changed<T, false>(form.opcode(), false);
}

}  // namespace

LaneOp float_signs(Form& form) {
  if (form.type() == Type::f32) return of_scalar<float>(form);
  if (form.type() == Type::f64) return of_scalar<double>(form);
  if (form.opcode() != Opcode::neg && form.opcode() != Opcode::abs) return nullptr;
  const bool pair = is_pair(form.type());
  if (is_brain(form.type())) return changed<Brain, false>(form.opcode(), pair);
  return form.take(Suffix::ftz) ? changed<Half, true>(form.opcode(), pair) : changed<Half, false>(form.opcode(), pair);
}

}  // namespace wm::exec
