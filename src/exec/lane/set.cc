// set: a comparison as a value.
#include "exec/lane/set.h"

namespace wm::exec {

using ptx::Suffix;
using ptx::Type;

namespace {

template <Comparison C, typename T>
void set_integer(const Operands& operands, const Frame& frame) {
  write_set(operands, frame, compared_lanes<C, T>(operands, frame, [](T x) { return x; }));
}
template <Comparison C, typename T, bool Ftz>
void set_float(const Operands& operands, const Frame& frame) {
  write_set(operands, frame, compared_lanes<C, T>(operands, frame, [](T x) { return flush<Ftz>(x); }));
}

template <typename T>
void write_pattern(const Operands& operands, const Frame& frame, Mask set, T pattern) {
  write_row<T>(frame, operands.destination[0], [&](T* out) {
    WM_EACH_LANE out[i] = static_cast<T>(static_cast<T>(-static_cast<T>((set >> i) & 1U)) & pattern);
  });
}

LaneOp from_integers(Type type, Comparison comparison) {
  const bool ordered = comparison != Comparison::eq && comparison != Comparison::ne;
  if (ptx::is_untyped(type) && ordered) return nullptr;
  return by_integer(type, [&]<typename T>(std::type_identity<T>) {
    return by_order(comparison, [](auto c) -> LaneOp { return set_integer<c(), T>; });
  });
}

LaneOp from_floats(Type type, Comparison comparison, bool ftz) {
  return by_comparison(comparison, [&](auto c) -> LaneOp {
    if (type == Type::f64) return ftz ? nullptr : set_float<c(), double, false>;
    return ftz ? set_float<c(), float, true> : set_float<c(), float, false>;
  });
}

}  // namespace

std::uint32_t true_pattern(Type type) {
  switch (type) {
    case Type::f32:
      return 0x3f800000U;
    case Type::f16:
    case Type::f16x2:
      return 0x3c00U;
    case Type::bf16:
    case Type::bf16x2:
      return 0x3f80U;
    default:
      return 0xffffffffU;
  }
}

Type set_type(const Operands& operands) { return static_cast<Type>(operands.immediate >> 8); }

void write_set(const Operands& operands, const Frame& frame, Mask compared) {
  const Mask set = joined(operands, frame, compared);
  const Type type = set_type(operands);
  const std::uint32_t pattern = true_pattern(type);
  if (ptx::bits(type) == 16) return write_pattern(operands, frame, set, static_cast<std::uint16_t>(pattern));
  write_pattern(operands, frame, set, pattern);
}

void write_set_pair(const Operands& operands, const Frame& frame, Mask low, Mask high) {
  const std::uint32_t pattern = true_pattern(set_type(operands)) & 0xffffU;
  const Mask first = joined(operands, frame, low), second = joined(operands, frame, high);
  write_row<std::uint32_t>(frame, operands.destination[0], [&](std::uint32_t* out) {
    for (int i = 0; i < kLanes; ++i)
      out[i] = (((first >> i) & 1U) != 0 ? pattern : 0U) | (((second >> i) & 1U) != 0 ? pattern << 16 : 0U);
  });
}

LaneOp set_value(Form& form) {
  const auto comparison = take_comparison(form);
  if (!comparison) return nullptr;
  const Type to = form.type(0), from = form.type(1);
  if (ptx::is_float(from) && ptx::bits(from) != 64 && from != Type::f32) return set_half(form, *comparison);
  if (to != Type::u32 && to != Type::s32 && to != Type::f32) return nullptr;
  if (from == Type::f32 || from == Type::f64) return from_floats(from, *comparison, form.take(Suffix::ftz));
  form.take(Suffix::ftz);  // allowed beside an f32 destination, and without effect
  return from_integers(from, *comparison);
}

}  // namespace wm::exec
