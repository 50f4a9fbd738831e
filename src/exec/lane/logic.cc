// and, or, xor, not, cnot, lop3, on bits and on predicates.
#include "exec/lane/form.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

template <typename T>
WM_LANE T bit_and(T a, T b) {
  return a & b;
}
template <typename T>
WM_LANE T bit_or(T a, T b) {
  return a | b;
}
template <typename T>
WM_LANE T bit_xor(T a, T b) {
  return a ^ b;
}
template <typename T>
WM_LANE T bit_not(T a) {
  return static_cast<T>(~a);
}
template <typename T>
WM_LANE T cnot(T a) {
  return a == 0 ? T{1} : T{0};
}

Mask source_mask(const Operands& operands, const Frame& frame, std::size_t index) {
  return Source<Flag>(operands, frame, index).mask;
}
template <Opcode Op>
void predicate_logic(const Operands& operands, const Frame& frame) {
  const Mask a = source_mask(operands, frame, 0);
  if constexpr (Op == Opcode::not_) {
    write_mask(frame, operands.destination[0], ~a);
  } else {
    const Mask b = source_mask(operands, frame, 1);
    write_mask(frame, operands.destination[0], Op == Opcode::and_ ? a & b : Op == Opcode::or_ ? a | b : a ^ b);
  }
}

LaneOp on_predicates(Opcode opcode) {
  switch (opcode) {
    case Opcode::and_:
      return predicate_logic<Opcode::and_>;
    case Opcode::or_:
      return predicate_logic<Opcode::or_>;
    case Opcode::xor_:
      return predicate_logic<Opcode::xor_>;
    case Opcode::not_:
      return predicate_logic<Opcode::not_>;
    default:
      return nullptr;
  }
}

// Bit i of the table is the result where a, b, c hold the bits 4, 2, 1 of i; four table bits at a time choose by c.
void lop3_row(const Operands& operands, const Frame& frame, std::uint32_t* out) {
  const Source<std::uint32_t> a(operands, frame, 0), b(operands, frame, 1), c(operands, frame, 2);
  std::uint32_t table[8];
  for (unsigned i = 0; i < 8; ++i) table[i] = ((operands.immediate >> i) & 1U) != 0 ? ~0U : 0U;
  WM_EACH_LANE {
    const std::uint32_t x = a.at(i), y = b.at(i), z = c.at(i);
    const std::uint32_t low = (~y & ((~z & table[0]) | (z & table[1]))) | (y & ((~z & table[2]) | (z & table[3])));
    const std::uint32_t high = (~y & ((~z & table[4]) | (z & table[5]))) | (y & ((~z & table[6]) | (z & table[7])));
    out[i] = (~x & low) | (x & high);
  }
}

void lop3(const Operands& operands, const Frame& frame) {
  write_row<std::uint32_t>(frame, operands.destination[0], [&](std::uint32_t* out) { lop3_row(operands, frame, out); });
}

// lop3.or.b32 d|p, a, b, c, table, q: p says whether the result is not zero, joined with q.
template <Suffix Join>
void lop3_predicate(const Operands& operands, const Frame& frame) {
  std::uint32_t result[kLanes];
  lop3_row(operands, frame, result);
  Mask set = 0;
  WM_EACH_LANE set |= static_cast<Mask>(result[i] != 0) << i;
  const Mask q = source_mask(operands, frame, 3);
  if (!operands.destination[0].none())
    blend(frame.destination<std::uint32_t>(operands.destination[0]), result, frame.active);
  write_mask(frame, operands.destination[1], Join == Suffix::and_ ? set & q : set | q);
}

}  // namespace

LaneOp logic(Form& form) {
  const Opcode opcode = form.opcode();
  if (opcode == Opcode::lop3) {
    if (form.type() != Type::b32) return nullptr;
    if (form.take(Suffix::or_)) return lop3_predicate<Suffix::or_>;
    if (form.take(Suffix::and_)) return lop3_predicate<Suffix::and_>;
    return lop3;
  }
  if (form.type() == Type::pred) return on_predicates(opcode);
  if (!ptx::is_untyped(form.type())) return nullptr;
  return by_integer(form.type(), [&]<typename T>(std::type_identity<T>) -> LaneOp {
    switch (opcode) {
      case Opcode::and_:
        return lanes<bit_and<T>>;
      case Opcode::or_:
        return lanes<bit_or<T>>;
      case Opcode::xor_:
        return lanes<bit_xor<T>>;
      case Opcode::not_:
        return lanes<bit_not<T>>;
      case Opcode::cnot:
        return lanes<cnot<T>>;
      default:
        return nullptr;
    }
  });
}

}  // namespace wm::exec
