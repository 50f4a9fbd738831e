// cvt from integers to floats.
#include <algorithm>

#include "exec/lane/convert.h"
#include "exec/lane/integer.h"

namespace wm::exec {

namespace {

using ptx::Suffix;
using ptx::Type;

template <typename D, typename S>
WM_LANE D nearest(S a) {
  return static_cast<D>(a);
}

// A 64-bit magnitude, rounded once. Bits that a double cannot hold are folded into its last one before it is narrowed.
template <typename D, Rounding R>
D round_integer(bool negative, std::uint64_t size) {
  const int spare = std::max(0, 11 - std::countl_zero(size));
  const std::uint64_t kept = size >> spare, rest = size & ((std::uint64_t{1} << spare) - 1);
  const double unit = from_bits<double>(static_cast<std::uint64_t>(kBias<double> + spare) << 52);
  if constexpr (std::is_same_v<D, double>) {
    const std::uint64_t up = spare != 0 && rounds_up<R>(negative, kept, rest, std::uint64_t{1} << (spare - 1)) ? 1 : 0;
    const double value = static_cast<double>(kept + up) * unit;
    return negative ? -value : value;
  } else {
    const double value = static_cast<double>(kept | (rest != 0 ? 1U : 0U)) * unit;
    return narrow<D, R>(negative ? -value : value);
  }
}

template <typename D, Rounding R>
void from_integers(const Operands& operands, const Frame& frame) {
  const ConversionPlan plan = ConversionPlan::unpack(operands.immediate);
  const IntegerRow row = load_integers(plan, operands, frame);
  const bool is_signed = ptx::is_signed(plan.from);
  write_row<Bits<D>>(frame, operands.destination[0], [&](Bits<D>* out) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const bool negative = is_signed && static_cast<std::int64_t>(row[i]) < 0;
      const D value = round_integer<D, R>(negative, negative ? 0 - row[i] : row[i]);
      out[i] = bits_of(plan.sat ? saturate<true>(value) : value);
    }
  });
}

template <typename D>
LaneOp common(Type from) {
  switch (from) {
    case Type::u32:
      return lanes<nearest<D, std::uint32_t>>;
    case Type::s32:
      return lanes<nearest<D, std::int32_t>>;
    case Type::u64:
      return lanes<nearest<D, std::uint64_t>>;
    case Type::s64:
      return lanes<nearest<D, std::int64_t>>;
    default:
      return nullptr;
  }
}

}  // namespace

LaneOp convert_from_integer(Form& form) {
  const Type to = form.type(0), from = form.type(1);
  const Rounding rounding = form.take_rounding().value_or(Rounding::rn);
  form.take(Suffix::ftz);  // there is no subnormal result
  const bool sat = form.take(Suffix::sat);
  if (form.row_bytes(0, to) != ptx::bytes(to) || form.row_bytes(1, from) < ptx::bytes(from)) return nullptr;
  const bool natural = form.row_bytes(1, from) == ptx::bytes(from);
  if (rounding == Rounding::rn && !sat && natural && ptx::bytes(from) >= 4) {
    if (to == Type::f32) return common<float>(from);
    if (to == Type::f64) return common<double>(from);
  }
  return by_rounding(rounding, [&](auto r) -> LaneOp {
    switch (to) {
      case Type::f16:
        return from_integers<Half, r()>;
      case Type::bf16:
        return from_integers<Brain, r()>;
      case Type::f32:
        return from_integers<float, r()>;
      case Type::f64:
        return from_integers<double, r()>;
      default:
        return nullptr;
    }
  });
}

}  // namespace wm::exec
