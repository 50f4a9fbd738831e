// The operands of a register-only instruction: their rows, the types of these, and operands that are not rows.
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

Type wide(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return type;
  }
}

Type untyped(int bits) {
  switch (bits) {
    case 8:
      return Type::b8;
    case 16:
      return Type::b16;
    case 32:
      return Type::b32;
    case 64:
      return Type::b64;
    default:
      return Type::b128;
  }
}

// A register of a fragment: 16-bit and smaller elements lie packed in 32 bits.
Type fragment(Type type) { return type == Type::f64 || type == Type::f32 || type == Type::s32 ? type : Type::b32; }

Type of_mov(const ptx::Instruction& instruction, std::size_t index) {
  const Operand& operand = instruction.operands[index];
  if (operand.kind != Operand::Kind::vector || operand.elements.empty()) return instruction.type();
  return untyped(ptx::bits(instruction.type()) / static_cast<int>(operand.elements.size()));
}

Type of_mma(const ptx::Instruction& instruction, std::size_t index) {
  // The types are those of d, a, b and c; the metadata of a sparse product follow them, then the number of the lanes
  // that hold these, which is no row.
  if (index < instruction.types.size()) return fragment(instruction.types[index]);
  return index == instruction.types.size() ? Type::b32 : Type::none;
}

bool is_constant(const Operand& operand) {
  return operand.kind == Operand::Kind::integer || operand.kind == Operand::Kind::f32 ||
         operand.kind == Operand::Kind::f64;
}

bool is_register_or_constant(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector) {
    for (const Operand& element : operand.elements)
      if (!is_register_or_constant(element)) return false;
    return true;
  }
  return operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::sink || is_constant(operand);
}

}  // namespace

Type lane_operand_type(const ptx::Instruction& instruction, std::size_t index) {
  const Type type = instruction.type();
  const Type second = instruction.types.size() > 1 ? instruction.types[1] : type;
  switch (instruction.opcode) {
    case Opcode::mov:
      return of_mov(instruction, index);
    case Opcode::mma:
      return of_mma(instruction, index);
    case Opcode::wmma_mma:
      return type == Type::f64 ? type : Type::b32;
    case Opcode::cvt:
      return index == 0 ? type : second;
    case Opcode::cvt_pack:
      return index == 0 || index == 3 ? Type::b32 : second;
    case Opcode::setp:
      return index == 0 || index == 3 ? Type::pred : type;
    case Opcode::set:
      return index == 0 ? type : index == 3 ? Type::pred : second;
    case Opcode::selp:
      return index == 3 ? Type::pred : type;
    case Opcode::slct:
      return index == 3 ? second : type;
    case Opcode::testp:
      return index == 0 ? Type::pred : type;
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::szext:
      return index == 2 ? Type::u32 : type;
    case Opcode::bfe:
      return index >= 2 ? Type::u32 : type;
    case Opcode::bfi:
      return index >= 3 ? Type::u32 : type;
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::bfind:
      return index == 0 ? Type::u32 : type;
    case Opcode::dp4a:
    case Opcode::dp2a:
      return Type::b32;
    case Opcode::vset2:
    case Opcode::vset4:
      return Type::u32;
    case Opcode::lop3:
      return index == 4 ? Type::none : index == 5 ? Type::pred : type;
    case Opcode::mul:
    case Opcode::mad:
      return instruction.has(Suffix::wide) && (index == 0 || index == 3) ? wide(type) : type;
    default:
      return type;
  }
}

std::uint32_t lane_immediate(const ptx::Instruction& instruction, std::span<const Type> operand_types) {
  switch (instruction.opcode) {
    case Opcode::lop3:
      return instruction.operands.size() > 4 ? static_cast<std::uint32_t>(instruction.operands[4].bits) : 0;
    case Opcode::set:
    case Opcode::setp:
      return static_cast<std::uint32_t>(join_of(instruction)) | static_cast<std::uint32_t>(instruction.type()) << 8;
    case Opcode::cvt:
      return conversion_plan(instruction, operand_types).pack();
    case Opcode::mma:  // a sparse product: the number of the lanes with metadata from bit 1 on
      return (instruction.has(Suffix::satfinite) ? 1U : 0U) |
             (instruction.operands.size() > 5 ? static_cast<std::uint32_t>(instruction.operands[5].bits) << 1U : 0U);
    case Opcode::wmma_mma:
      return instruction.has(Suffix::satfinite) ? 1 : 0;
    default:
      return instruction.opcode >= Opcode::vadd2 && instruction.opcode <= Opcode::vset4
                 ? simd_video_immediate(instruction)
                 : 0;
  }
}

bool is_lane_op(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::mov: {
      for (const Operand& operand : instruction.operands)
        if (!is_register_or_constant(operand)) return false;
      return true;
    }
    case Opcode::cvt:
    case Opcode::cvt_pack:
    case Opcode::mma:
    case Opcode::wmma_mma:
      return true;
    default:
      return instruction.opcode < Opcode::mov;  // arithmetic, bits, comparison and selection come first
  }
}

}  // namespace wm::exec
