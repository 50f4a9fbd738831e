// cvt with two values in a register: two floats to a pair of a narrower format, pairs of 8-bit floats to and from
// f16x2, and cvt.pack of two integers.
#include "exec/lane/convert.h"
#include "exec/lane/integer.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

template <typename T, Rounding R>
T rounded(const ConversionPlan& plan, double value) {
  const T result = plan.finite ? narrow<T, R, true>(value) : narrow<T, R>(value);
  return plan.relu ? rectify<true>(result) : result;
}

// The first source becomes the upper half.
template <typename T, Rounding R>
void from_singles(const Operands& operands, const Frame& frame) {
  using Pair = Bits<std::conditional_t<sizeof(T) == 2, float, Half>>;
  const ConversionPlan plan = ConversionPlan::unpack(operands.immediate);
  const FloatRow high = load_floats(Type::f32, plan.ftz, operands.source[0], frame);
  const FloatRow low = load_floats(Type::f32, plan.ftz, operands.source[1], frame);
  write_row<Pair>(frame, operands.destination[0], [&](Pair* out) {
    for (std::size_t i = 0; i < kLanes; ++i)
      out[i] =
          static_cast<Pair>(rounded<T, R>(plan, high[i]).bits << (sizeof(T) * 8) | rounded<T, R>(plan, low[i]).bits);
  });
}

template <typename T>
void from_half_pair(const Operands& operands, const Frame& frame) {
  const ConversionPlan plan = ConversionPlan::unpack(operands.immediate);
  const auto* row = frame.source<std::uint32_t>(operands.source[0]);
  write_row<std::uint16_t>(frame, operands.destination[0], [&](std::uint16_t* out) {
    for (int i = 0; i < kLanes; ++i) {
      const double low = widen(Half{static_cast<std::uint16_t>(row[i])});
      const double high = widen(Half{static_cast<std::uint16_t>(row[i] >> 16)});
      out[i] = static_cast<std::uint16_t>(rounded<T, Rounding::rn>(plan, high).bits << 8 |
                                          rounded<T, Rounding::rn>(plan, low).bits);
    }
  });
}

template <typename T>
void to_half_pair(const Operands& operands, const Frame& frame) {
  const ConversionPlan plan = ConversionPlan::unpack(operands.immediate);
  const auto* row = frame.source<std::uint16_t>(operands.source[0]);
  write_row<std::uint32_t>(frame, operands.destination[0], [&](std::uint32_t* out) {
    for (int i = 0; i < kLanes; ++i) {
      const Half low = rounded<Half, Rounding::rn>(plan, widen(T{static_cast<std::uint8_t>(row[i])}));
      const Half high = rounded<Half, Rounding::rn>(plan, widen(T{static_cast<std::uint8_t>(row[i] >> 8)}));
      out[i] = static_cast<std::uint32_t>(low.bits) | static_cast<std::uint32_t>(high.bits) << 16;
    }
  });
}

// cvt.pack: a above b, saturated; 8-bit results push c up by 16 bits.
template <typename D>
WM_LANE std::uint32_t pack_two(std::int32_t a, std::int32_t b) {
  using Unsigned = Bits<D>;
  const std::uint32_t high = static_cast<Unsigned>(clamp_to<D>(static_cast<std::int64_t>(a)));
  const std::uint32_t low = static_cast<Unsigned>(clamp_to<D>(static_cast<std::int64_t>(b)));
  return high << (sizeof(D) * 8) | low;
}
template <typename D>
WM_LANE std::uint32_t pack_onto(std::int32_t a, std::int32_t b, std::uint32_t c) {
  return c << 16 | pack_two<D>(a, b);
}

LaneOp packing(Form& form) {
  if (!form.take(Suffix::sat) || form.type(1) != Type::s32) return nullptr;
  switch (form.type(0)) {
    case Type::u16:
      return lanes<pack_two<std::uint16_t>>;
    case Type::s16:
      return lanes<pack_two<std::int16_t>>;
    case Type::u8:
      return lanes<pack_onto<std::uint8_t>>;
    case Type::s8:
      return lanes<pack_onto<std::int8_t>>;
    default:
      return nullptr;
  }
}

LaneOp singles_to_halves(Type to, Rounding rounding) {
  if (rounding == Rounding::rz)
    return to == Type::f16x2 ? from_singles<Half, Rounding::rz> : from_singles<Brain, Rounding::rz>;
  if (rounding != Rounding::rn) return nullptr;
  return to == Type::f16x2 ? from_singles<Half, Rounding::rn> : from_singles<Brain, Rounding::rn>;
}

}  // namespace

LaneOp convert_packed(Form& form) {
  if (form.opcode() == Opcode::cvt_pack) return packing(form);
  const Type to = form.type(0), from = form.type(1);
  const auto rounding = form.take_rounding();
  if (!rounding) return nullptr;
  form.take(Suffix::relu), form.take(Suffix::satfinite);
  if (from == Type::e4m3x2 && to == Type::f16x2) return to_half_pair<E4m3>;
  if (from == Type::e5m2x2 && to == Type::f16x2) return to_half_pair<E5m2>;
  if (from == Type::f16x2 && to == Type::e4m3x2) return from_half_pair<E4m3>;
  if (from == Type::f16x2 && to == Type::e5m2x2) return from_half_pair<E5m2>;
  if (from != Type::f32) return nullptr;
  if (to == Type::e4m3x2) return from_singles<E4m3, Rounding::rn>;
  if (to == Type::e5m2x2) return from_singles<E5m2, Rounding::rn>;
  return singles_to_halves(to, *rounding);
}

}  // namespace wm::exec
