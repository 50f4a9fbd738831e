// From an instruction to the family that executes it.
#include <initializer_list>
#include <string>
#include <string_view>

#include "exec/lane/compare.h"
#include "exec/lane/convert.h"
#include "exec/lane/form.h"
#include "exec/lane_ops.h"

namespace wm::exec {

using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

namespace {

bool is_half(Type type) {
  return type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2;
}
bool is_packed_integer(Type type) { return type == Type::u16x2 || type == Type::s16x2; }

bool carries(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::addc:
    case Opcode::subc:
    case Opcode::madc:
      return true;
    default:
      return instruction.has(Suffix::cc);
  }
}

// add, sub, mul, mad, fma: which arithmetic by type.
LaneOp arithmetic(Form& form) {
  const Type type = form.type();
  const bool fused = form.opcode() == Opcode::fma || form.opcode() == Opcode::mad;
  if (carries(form.instruction())) return carry_arithmetic(form);
  if (type == Type::f32) return fused ? float32_fma(form) : float32_arithmetic(form);
  if (type == Type::f64) return float64_arithmetic(form);
  if (is_half(type)) return half_arithmetic(form);
  if (is_packed_integer(type)) return packed_integer(form);
  if (form.opcode() == Opcode::fma) return nullptr;
  const bool multiplies = form.opcode() == Opcode::mul || form.opcode() == Opcode::mad;
  return multiplies ? integer_multiply(form) : integer_arithmetic(form);
}

LaneOp quotient(Form& form) {
  const Type type = form.type();
  if (type == Type::f32) return float32_divide(form);
  return type == Type::f64 ? float64_arithmetic(form) : integer_divide(form);
}

LaneOp root(Form& form) {
  if (form.instruction().has(Suffix::approx)) return approximation(form);
  return form.type() == Type::f32 ? float32_divide(form) : float64_arithmetic(form);
}

LaneOp extreme(Form& form) {
  if (ptx::is_float(form.type())) return float_extremes(form);
  return is_packed_integer(form.type()) ? packed_integer(form) : integer_arithmetic(form);
}

LaneOp comparison(Form& form) {
  form.take(Suffix::and_), form.take(Suffix::or_), form.take(Suffix::xor_);
  if (form.opcode() == Opcode::set) return set_value(form);
  if (is_half(form.type())) return half_compare(form);
  return ptx::is_float(form.type()) ? float_compare(form) : integer_compare(form);
}

LaneOp find(Form& form) {
  switch (form.opcode()) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::fma:
      return arithmetic(form);
    case Opcode::addc:
    case Opcode::subc:
    case Opcode::madc:
      return carry_arithmetic(form);
    case Opcode::mul24:
    case Opcode::mad24:
      return integer_multiply(form);
    case Opcode::sad:
      return integer_arithmetic(form);
    case Opcode::div:
    case Opcode::rem:
      return quotient(form);
    case Opcode::abs:
    case Opcode::neg:
      return ptx::is_float(form.type()) ? float_signs(form) : integer_arithmetic(form);
    case Opcode::copysign:
    case Opcode::testp:
      return float_signs(form);
    case Opcode::min:
    case Opcode::max:
      return extreme(form);
    case Opcode::rcp:
    case Opcode::sqrt:
      return root(form);
    case Opcode::rsqrt:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::lg2:
    case Opcode::ex2:
    case Opcode::tanh:
      return approximation(form);
    case Opcode::dp4a:
    case Opcode::dp2a:
      return dot_product(form);
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::bfind:
    case Opcode::fns:
    case Opcode::brev:
    case Opcode::bfe:
    case Opcode::bfi:
    case Opcode::szext:
    case Opcode::bmsk:
      return bit_counting(form);
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::cnot:
    case Opcode::lop3:
      return logic(form);
    case Opcode::shf:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::prmt:
      return shift(form);
    case Opcode::set:
    case Opcode::setp:
      return comparison(form);
    case Opcode::selp:
    case Opcode::slct:
      return selection(form);
    case Opcode::mov:
      return move(form);
    case Opcode::cvt:
      return conversion(form);
    case Opcode::cvt_pack:
      return convert_packed(form);
    case Opcode::mma:
      return matrix_multiply(form);
    case Opcode::wmma_mma:
      return tile_multiply(form);
    default:
      return form.opcode() >= Opcode::vadd2 && form.opcode() <= Opcode::vset4 ? simd_video(form) : nullptr;
  }
}

// A message that opens with the instruction's name in quotes.
Error refused(const ptx::Instruction& instruction, std::initializer_list<std::string_view> why) {
  std::string text("'");
  text.append(ptx::name(instruction.opcode));
  for (const Suffix suffix : instruction.suffixes) text.append(".").append(ptx::name(suffix));
  for (const Type type : instruction.types) text.append(".").append(ptx::name(type));
  text.append("'");
  for (const std::string_view part : why) text.append(part);
  return Error{text, Place{"", instruction.position.line, instruction.position.column}};
}

}  // namespace

Result<LaneOp> lane_op(const ptx::Instruction& instruction, std::span<const Type> operand_types) {
  Form form(instruction, operand_types);
  const LaneOp op = find(form);
  if (op == nullptr) return refused(instruction, {" cannot be executed"});
  if (const auto suffix = form.left_over(); suffix)
    return refused(instruction, {": .", ptx::name(*suffix), " does not belong here"});
  return op;
}

}  // namespace wm::exec
