// cvt from floats to integers: a value out of range becomes the nearest end of the range. A NaN becomes zero, or, where
// a 64-bit format takes part, only the top bit set.
#include <cmath>
#include <limits>

#include "exec/lane/convert.h"

namespace wm::exec {

namespace {

using ptx::Suffix;
using ptx::Type;

template <Rounding R>
WM_LANE double integral(double x) {
  if constexpr (R == Rounding::rn) return std::nearbyint(x);
  if constexpr (R == Rounding::rm) return std::floor(x);
  if constexpr (R == Rounding::rp) return std::ceil(x);
  return std::trunc(x);
}

// `rounded` is integral or not finite. The ends are compared as doubles: the high one is the first value out of range.
template <typename D, bool WideNan>
WM_LANE D to_integer(double rounded) {
  const auto low = static_cast<double>(std::numeric_limits<D>::min());
  const double high = 2.0 * static_cast<double>(Bits<D>{1} << (std::numeric_limits<D>::digits - 1));
  const D nan = WideNan ? static_cast<D>(Bits<D>{1} << (sizeof(D) * 8 - 1)) : D{0};
  const bool inside = rounded >= low && rounded < high;
  const D value = static_cast<D>(inside ? rounded : 0.0);
  const D end = rounded < low ? std::numeric_limits<D>::min() : std::numeric_limits<D>::max();
  return inside ? value : rounded != rounded ? nan : end;
}

template <typename D, typename S, Rounding R, bool Ftz>
WM_LANE D direct(S a) {
  const bool wide = sizeof(D) == 8 || sizeof(S) == 8;
  return to_integer<D, wide>(integral<R>(widen(flush<Ftz>(a))));
}

template <typename S, Rounding R, bool Ftz>
LaneOp directly(Type to) {
  switch (to) {
    case Type::u32:
      return lanes<direct<std::uint32_t, S, R, Ftz>>;
    case Type::s32:
      return lanes<direct<std::int32_t, S, R, Ftz>>;
    case Type::u64:
      return lanes<direct<std::uint64_t, S, R, Ftz>>;
    case Type::s64:
      return lanes<direct<std::int64_t, S, R, Ftz>>;
    default:
      return nullptr;
  }
}

template <typename D>
void store_as(const FloatRow& in, bool wide, IntegerRow& out) {
  for (std::size_t i = 0; i < kLanes; ++i)
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign of 8-bit types is meant to spread
    out[i] = static_cast<std::uint64_t>(wide ? to_integer<D, true>(in[i]) : to_integer<D, false>(in[i]));
}

void store_clamped(const ConversionPlan& plan, const FloatRow& in, IntegerRow& out) {
  const bool wide = ptx::bits(plan.from) == 64 || ptx::bits(plan.to) == 64;
  switch (plan.to) {
    case Type::u8:
      return store_as<std::uint8_t>(in, wide, out);
    case Type::s8:
      return store_as<std::int8_t>(in, wide, out);
    case Type::u16:
      return store_as<std::uint16_t>(in, wide, out);
    case Type::s16:
      return store_as<std::int16_t>(in, wide, out);
    case Type::u32:
      return store_as<std::uint32_t>(in, wide, out);
    case Type::s32:
      return store_as<std::int32_t>(in, wide, out);
    case Type::u64:
      return store_as<std::uint64_t>(in, wide, out);
    default:
      return store_as<std::int64_t>(in, wide, out);
  }
}

template <Rounding R>
void to_integers(const Operands& operands, const Frame& frame) {
  const ConversionPlan plan = ConversionPlan::unpack(operands.immediate);
  FloatRow values = load_floats(plan.from, plan.ftz, operands.source[0], frame);
  for (double& value : values) value = integral<R>(value);
  IntegerRow row;
  store_clamped(plan, values, row);
  store_integers(plan, operands, frame, row);
}

}  // namespace

LaneOp convert_to_integer(Form& form) {
  const Type to = form.type(0), from = form.type(1);
  const auto rounding = form.take_integer_rounding();
  if (!rounding) return nullptr;
  const bool ftz = form.take(Suffix::ftz);
  form.take(Suffix::sat);  // out of range clamps without it
  if (form.row_bytes(0, to) < ptx::bytes(to) || form.row_bytes(1, from) != ptx::bytes(from)) return nullptr;
  const bool natural = form.row_bytes(0, to) == ptx::bytes(to) && ptx::bytes(to) >= 4;
  return by_rounding(*rounding, [&](auto r) -> LaneOp {
    if (natural && from == Type::f64) return directly<double, r(), false>(to);
    if (natural && from == Type::f32) return ftz ? directly<float, r(), true>(to) : directly<float, r(), false>(to);
    if (from == Type::f16 || from == Type::bf16 || from == Type::f32 || from == Type::f64) return to_integers<r()>;
    return nullptr;
  });
}

}  // namespace wm::exec
