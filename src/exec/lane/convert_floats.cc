// cvt between floats: to another format, or to an integral value of the same one.
#include <cmath>

#include "exec/lane/convert.h"
#include "exec/lane/float32.h"

namespace wm::exec {

namespace {

using ptx::Suffix;
using ptx::Type;

// A NaN of a narrower format as a quiet f64: sign and payload stay at the top.
template <typename S>
WM_LANE double widen_nan(S nan) {
  if constexpr (std::is_same_v<S, double>) return nan;
  const int up = 64 - static_cast<int>(sizeof(S)) * 8;
  const std::uint64_t top = static_cast<std::uint64_t>(bits_of(nan)) << up;
  const std::uint64_t payload = top << (1 + Layout<S>::kExponent) >> 12;
  return quiet(from_bits<double>((top & kSign<double>) | kInfinity<double> | payload));
}

template <typename S>
void load_as(RegisterRow operand, bool ftz, const Frame& frame, FloatRow& out) {
  const auto* row = frame.source<Bits<S>>(operand);
  for (std::size_t i = 0; i < kLanes; ++i) {
    const S value = from_bits<S>(row[i]);
    out[i] = is_nan(value) ? widen_nan(value) : widen(ftz ? flush<true>(value) : value);
  }
}

// The result of converting a NaN. f64 keeps its payload, truncated or extended; all others become canonical.
template <typename D>
WM_LANE D converted_nan(Type from, bool ftz, double nan) {
  if constexpr (std::is_same_v<D, double>) {
    return ftz ? from_bits<double>(0x7fffffffe0000000ULL) : quiet(nan);  // .ftz goes through f32's own NaN
  } else {
    if (from != Type::f64) return from_bits<D>(Layout<D>::kNan);
    const std::uint64_t bits = bits_of(quiet(nan));
    const auto payload = static_cast<Bits<D>>((bits & 0xfffffffffffffULL) >> (52 - Layout<D>::kFraction));
    const auto sign = static_cast<Bits<D>>((bits >> 63) != 0 ? kSign<D> : 0);
    return from_bits<D>(static_cast<Bits<D>>(sign | kInfinity<D> | payload));
  }
}

template <typename D, typename S>
WM_LANE D nearest(S a) {
  if constexpr (std::is_same_v<D, double>)
    return is_nan(a) ? widen_nan(a) : widen(a);
  else if constexpr (std::is_same_v<S, double>)
    return is_nan(a) ? converted_nan<D>(Type::f64, false, a) : narrow<D, Rounding::rn>(a);
  else
    return narrow<D, Rounding::rn>(widen(a));
}
// The upper half of an f32.
WM_LANE std::uint32_t brain_to_float(std::uint16_t a) { return static_cast<std::uint32_t>(a) << 16; }
template <typename T>
WM_LANE T unchanged(T a) {
  return a;
}

template <typename D>
D finish(const ConversionPlan& plan, D value) {
  if (plan.ftz && std::is_same_v<D, float>) value = flush<true>(value);
  if (plan.relu) value = rectify<true>(value);
  return plan.sat ? saturate<true>(value) : value;
}

template <typename D, Rounding R>
D rounded(const ConversionPlan& plan, double value) {
  if (value != value) return converted_nan<D>(plan.from, plan.ftz, value);
  if constexpr (std::is_same_v<D, float>)
    if (plan.ftz) value = flush_tiny<true, R>(value);
  if constexpr (std::is_same_v<D, double>)
    return value;
  else
    return plan.finite ? narrow<D, R, true>(value) : narrow<D, R>(value);
}

template <typename D, Rounding R>
void between_floats(const Operands& operands, const Frame& frame) {
  const ConversionPlan plan = ConversionPlan::unpack(operands.immediate);
  const bool ftz = plan.ftz && plan.from == Type::f32 && plan.to != Type::f16;  // f16 has its own subnormals
  const FloatRow row = load_floats(plan.from, ftz, operands.source[0], frame);
  write_row<Bits<D>>(frame, operands.destination[0], [&](Bits<D>* out) {
    for (std::size_t i = 0; i < kLanes; ++i) out[i] = bits_of(finish<D>(plan, rounded<D, R>(plan, row[i])));
  });
}

template <Rounding R>
double integral(double x) {
  if constexpr (R == Rounding::rn) return std::nearbyint(x);
  if constexpr (R == Rounding::rm) return std::floor(x);
  if constexpr (R == Rounding::rp) return std::ceil(x);
  return std::trunc(x);
}

template <typename T, Rounding R>
void to_integral(const Operands& operands, const Frame& frame) {
  const ConversionPlan plan = ConversionPlan::unpack(operands.immediate);
  const FloatRow row = load_floats(plan.from, plan.ftz && plan.from == Type::f32, operands.source[0], frame);
  write_row<Bits<T>>(frame, operands.destination[0], [&](Bits<T>* out) {
    for (std::size_t i = 0; i < kLanes; ++i)
      out[i] = bits_of(finish<T>(plan, rounded<T, Rounding::rn>(plan, integral<R>(row[i]))));
  });
}

// cvt.rna.tf32 adds half a unit to the bits and cuts, whatever they stand for: a NaN may become infinity, and with
// .satfinite one unit less than the result where the exponent is full.
template <bool Finite>
WM_LANE std::uint32_t to_tf32_away(std::uint32_t a) {
  const bool full = (a & kInfinity<float>) == kInfinity<float>;
  const std::uint32_t rounded = (full ? a : a + 0x1000U) & 0xffffe000U;
  const bool too_large = Finite && (rounded & kInfinity<float>) == kInfinity<float>;
  return too_large ? rounded - 0x2000U : rounded;
}

LaneOp common(Type to, Type from) {
  if (to == Type::f64 && from == Type::f32) return lanes<nearest<double, float>>;
  if (to == Type::f32 && from == Type::f64) return lanes<nearest<float, double>>;
  if (to == Type::f32 && from == Type::f16) return lanes<nearest<float, Half>>;
  if (to == Type::f32 && from == Type::bf16) return lanes<brain_to_float>;
  if (to == from && to == Type::f32) return lanes<unchanged<std::uint32_t>>;
  if (to == from && to == Type::f64) return lanes<unchanged<std::uint64_t>>;
  if (to == Type::f16 && from == Type::f32) return lanes<nearest<Half, float>>;
  if (to == Type::bf16 && from == Type::f32) return lanes<nearest<Brain, float>>;
  return nullptr;
}

template <Rounding R>
LaneOp to_format(Type to) {
  switch (to) {
    case Type::f16:
      return between_floats<Half, R>;
    case Type::bf16:
      return between_floats<Brain, R>;
    case Type::tf32:
      return between_floats<Tf32, R>;
    case Type::f32:
      return between_floats<float, R>;
    case Type::f64:
      return between_floats<double, R>;
    default:
      return nullptr;
  }
}

LaneOp same_format(Type type, Rounding rounding) {
  return by_rounding(rounding, [&](auto r) -> LaneOp {
    switch (type) {
      case Type::f16:
        return to_integral<Half, r()>;
      case Type::bf16:
        return to_integral<Brain, r()>;
      case Type::f32:
        return to_integral<float, r()>;
      case Type::f64:
        return to_integral<double, r()>;
      default:
        return nullptr;
    }
  });
}

bool is_scalar_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}

}  // namespace

FloatRow load_floats(Type type, bool ftz, RegisterRow operand, const Frame& frame) {
  FloatRow row;
  switch (type) {
    case Type::f16:
      load_as<Half>(operand, false, frame, row);
      break;
    case Type::bf16:
      load_as<Brain>(operand, false, frame, row);
      break;
    case Type::f32:
      load_as<float>(operand, ftz, frame, row);
      break;
    default:
      load_as<double>(operand, false, frame, row);
      break;
  }
  return row;
}

LaneOp convert_between_floats(Form& form) {
  const Type to = form.type(0), from = form.type(1);
  if (!is_scalar_float(from) || form.row_bytes(1, from) != ptx::bytes(from)) return nullptr;
  if (form.row_bytes(0, to) != ptx::bytes(to)) return nullptr;
  const auto to_nearest_integer = form.take_integer_rounding();
  const auto rounding = form.take_rounding();
  const bool ftz = form.take(Suffix::ftz), sat = form.take(Suffix::sat);
  const bool relu = form.take(Suffix::relu), finite = form.take(Suffix::satfinite);
  if (to_nearest_integer) return to == from ? same_format(to, *to_nearest_integer) : nullptr;
  if (rounding == Rounding::rna)
    return to != Type::tf32 ? nullptr : finite ? lanes<to_tf32_away<true>> : lanes<to_tf32_away<false>>;
  const Rounding direction = rounding.value_or(Rounding::rn);
  const bool plain = direction == Rounding::rn && !ftz && !sat && !relu && !finite;
  if (const LaneOp op = plain ? common(to, from) : nullptr; op != nullptr) return op;
  return by_rounding(direction, [&](auto r) { return to_format<r()>(to); });
}

}  // namespace wm::exec
