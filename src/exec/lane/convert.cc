// cvt: the plan, and conversions between integers.
#include "exec/lane/convert.h"

#include <limits>

#include "exec/lane/integer.h"

namespace wm::exec {

using ptx::Suffix;
using ptx::Type;

namespace {

int log2_bytes(int bytes) { return std::countr_zero(static_cast<unsigned>(bytes)); }

template <typename D, typename S>
WM_LANE D convert_integer(S a) {
  return static_cast<D>(a);
}

// Rows whose registers are as wide as their types.
template <typename S>
LaneOp natural(int to_bytes) {
  switch (to_bytes) {
    case 1:
      return lanes<convert_integer<std::uint8_t, S>>;
    case 2:
      return lanes<convert_integer<std::uint16_t, S>>;
    case 4:
      return lanes<convert_integer<std::uint32_t, S>>;
    case 8:
      return lanes<convert_integer<std::uint64_t, S>>;
    default:
      return nullptr;
  }
}

template <typename S, typename R>
void load(const RegisterRow operand, const Frame& frame, IntegerRow& out) {
  const R* row = frame.source<R>(operand);
  WM_EACH_LANE {
    const auto value = static_cast<S>(row[i]);
    out[static_cast<std::size_t>(i)] = std::is_signed_v<S>
                                           ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                           : static_cast<std::uint64_t>(value);
  }
}
template <typename S>
void load_as(int bytes, RegisterRow operand, const Frame& frame, IntegerRow& out) {
  switch (bytes) {
    case 1:
      return load<S, std::uint8_t>(operand, frame, out);
    case 2:
      return load<S, std::uint16_t>(operand, frame, out);
    case 4:
      return load<S, std::uint32_t>(operand, frame, out);
    default:
      return load<S, std::uint64_t>(operand, frame, out);
  }
}

template <typename R>
void store(RegisterRow operand, const Frame& frame, const IntegerRow& in) {
  write_row<R>(frame, operand, [&](R* out) { WM_EACH_LANE out[i] = static_cast<R>(in[static_cast<std::size_t>(i)]); });
}

template <typename D>
void cut(IntegerRow& row) {
  for (std::uint64_t& value : row) {
    const auto kept = static_cast<D>(value);
    value = std::is_signed_v<D> ? static_cast<std::uint64_t>(static_cast<std::int64_t>(kept))
                                : static_cast<std::uint64_t>(kept);
  }
}

// .sat: clamps the source's value to the range of D.
template <typename D>
void clamp(IntegerRow& row, bool from_signed) {
  for (std::uint64_t& value : row) {
    const auto exact = from_signed ? static_cast<Int128>(static_cast<std::int64_t>(value)) : static_cast<Int128>(value);
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign of 8-bit types is meant to spread
    value = static_cast<std::uint64_t>(clamp_to<D>(exact));
  }
}

template <typename Visitor>
void by_integer_type(Type type, Visitor&& visit) {
  switch (type) {
    case Type::u8:
    case Type::b8:
      return visit(std::uint8_t{});
    case Type::s8:
      return visit(std::int8_t{});
    case Type::u16:
    case Type::b16:
      return visit(std::uint16_t{});
    case Type::s16:
      return visit(std::int16_t{});
    case Type::u32:
    case Type::b32:
      return visit(std::uint32_t{});
    case Type::s32:
      return visit(std::int32_t{});
    case Type::s64:
      return visit(std::int64_t{});
    default:
      return visit(std::uint64_t{});
  }
}

void between_integers(const Operands& operands, const Frame& frame) {
  const ConversionPlan plan = ConversionPlan::unpack(operands.immediate);
  IntegerRow row = load_integers(plan, operands, frame);
  if (plan.sat) by_integer_type(plan.to, [&](auto zero) { clamp<decltype(zero)>(row, ptx::is_signed(plan.from)); });
  store_integers(plan, operands, frame, row);
}

LaneOp natural_integer(Type from, int to_bytes) {
  if (ptx::bytes(from) == 1) return from == Type::s8 ? natural<std::int8_t>(to_bytes) : natural<std::uint8_t>(to_bytes);
  return by_integer(from, [&]<typename S>(std::type_identity<S>) { return natural<S>(to_bytes); });
}

bool is_packed(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 || type == Type::e4m3x2 || type == Type::e5m2x2;
}
bool is_integer(Type type) { return ptx::is_signed(type) || ptx::is_unsigned(type); }

}  // namespace

std::uint32_t ConversionPlan::pack() const {
  return static_cast<std::uint32_t>(from) | static_cast<std::uint32_t>(to) << 8 |
         static_cast<std::uint32_t>(log2_bytes(from_bytes)) << 16 |
         static_cast<std::uint32_t>(log2_bytes(to_bytes)) << 20 | (ftz ? 1U << 24 : 0U) | (sat ? 1U << 25 : 0U) |
         (relu ? 1U << 26 : 0U) | (finite ? 1U << 27 : 0U);
}

ConversionPlan ConversionPlan::unpack(std::uint32_t immediate) {
  ConversionPlan plan;
  plan.from = static_cast<Type>(immediate & 0xffU);
  plan.to = static_cast<Type>((immediate >> 8) & 0xffU);
  plan.from_bytes = 1 << ((immediate >> 16) & 15U);
  plan.to_bytes = 1 << ((immediate >> 20) & 15U);
  plan.ftz = (immediate >> 24 & 1U) != 0;
  plan.sat = (immediate >> 25 & 1U) != 0;
  plan.relu = (immediate >> 26 & 1U) != 0;
  plan.finite = (immediate >> 27 & 1U) != 0;
  return plan;
}

ConversionPlan conversion_plan(const ptx::Instruction& instruction, std::span<const Type> operand_types) {
  const Form form(instruction, operand_types);
  ConversionPlan plan{.from = form.type(1), .to = form.type(0)};
  plan.from_bytes = form.row_bytes(1, plan.from);
  plan.to_bytes = form.row_bytes(0, plan.to);
  plan.ftz = instruction.has(Suffix::ftz);
  plan.sat = instruction.has(Suffix::sat);
  plan.relu = instruction.has(Suffix::relu);
  plan.finite = instruction.has(Suffix::satfinite);
  return plan;
}

IntegerRow load_integers(const ConversionPlan& plan, const Operands& operands, const Frame& frame) {
  IntegerRow row;
  by_integer_type(plan.from,
                  [&](auto zero) { load_as<decltype(zero)>(plan.from_bytes, operands.source[0], frame, row); });
  return row;
}

void store_integers(const ConversionPlan& plan, const Operands& operands, const Frame& frame, IntegerRow& row) {
  by_integer_type(plan.to, [&](auto zero) { cut<decltype(zero)>(row); });
  switch (plan.to_bytes) {
    case 1:
      return store<std::uint8_t>(operands.destination[0], frame, row);
    case 2:
      return store<std::uint16_t>(operands.destination[0], frame, row);
    case 4:
      return store<std::uint32_t>(operands.destination[0], frame, row);
    default:
      return store<std::uint64_t>(operands.destination[0], frame, row);
  }
}

LaneOp conversion(Form& form) {
  const Type to = form.type(0), from = form.type(1);
  if (is_integer(from) && is_integer(to)) {
    const int from_bytes = form.row_bytes(1, from), to_bytes = form.row_bytes(0, to);
    if (from_bytes < ptx::bytes(from) || to_bytes < ptx::bytes(to)) return nullptr;
    const bool sat = form.take(Suffix::sat);
    const bool plain = !sat && from_bytes == ptx::bytes(from) && to_bytes == ptx::bytes(to);
    return plain ? natural_integer(from, to_bytes) : between_integers;
  }
  if (is_integer(from)) return convert_from_integer(form);
  if (is_integer(to)) return convert_to_integer(form);
  if (is_packed(to) || is_packed(from)) return convert_packed(form);
  return convert_between_floats(form);
}

}  // namespace wm::exec
