#include "ptx/instruction_shape.h"

#include <algorithm>

#include "ptx/def_use.h"
#include "ptx/memory_effect.h"

namespace wm::ptx {

bool is_word_type(Type type) { return type == Type::s32 || type == Type::u32 || type == Type::b32; }
bool is_wide_type(Type type) { return type == Type::s64 || type == Type::u64 || type == Type::b64; }
bool is_word_sum(const Instruction& i) {
  return (i.opcode == Opcode::add || i.opcode == Opcode::sub) && is_word_type(i.type()) && i.suffixes.empty();
}
bool is_half_type(Type type) { return type == Type::s16 || type == Type::u16 || type == Type::b16; }
bool is_ordering(const Instruction& i) { return i.opcode == Opcode::setp && !i.has(Suffix::eq) && !i.has(Suffix::ne); }
std::uint32_t half_extensions(const Instruction& i) {
  if (i.types.empty() || !is_half_type(i.type())) return 0;
  switch (i.opcode) {
    case Opcode::sub:
      return i.operands[2].kind == Operand::Kind::reg ? 2 : 0;
    case Opcode::mul:
    case Opcode::mad:
      return i.has(Suffix::lo) || i.type() == Type::s16 ? 1 : 0;
    case Opcode::shr:
      return i.type() == Type::s16 ? 1 : 0;
    case Opcode::setp:
      return i.type() == Type::s16 && is_ordering(i) ? 1 : 0;
    default:
      return 0;
  }
}
bool leaves_high_half(const Instruction& i) {
  if (i.opcode == Opcode::cvt) return i.types.size() == 2 && i.types[0] == Type::u16 && bits(i.types[1]) > 16;
  if (i.types.empty() || !is_half_type(i.type())) return false;
  switch (i.opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::shl:
    case Opcode::neg:
    case Opcode::not_:
      return true;
    case Opcode::mul:
    case Opcode::mad:
      return i.has(Suffix::lo);
    default:
      return false;
  }
}
bool needs_high_half(const Instruction& i) {
  if (i.opcode == Opcode::cvt) return i.types.size() == 2 && i.types[1] == Type::u16 && bits(i.types[0]) > 16;
  if (i.types.empty() || i.type() != Type::u16) return false;
  return i.opcode == Opcode::shr || (i.opcode == Opcode::mul && i.has(Suffix::wide)) || is_ordering(i);
}
bool is_logic(const Instruction& i) {
  const bool logic =
      i.opcode == Opcode::and_ || i.opcode == Opcode::or_ || i.opcode == Opcode::xor_ || i.opcode == Opcode::not_;
  return logic && (i.type() == Type::b32 || i.type() == Type::b16);
}
bool is_word_extreme(const Instruction& i) {
  return (i.opcode == Opcode::min || i.opcode == Opcode::max) && is_word_type(i.type());
}
bool is_predicate_logic(const Instruction& i) { return i.type() == Type::pred && i.opcode != Opcode::setp; }
bool shifts_by_constant(const Instruction& i, Type type) {
  return i.opcode == Opcode::shl && i.type() == type && i.operands[2].kind == Operand::Kind::integer;
}
bool takes_high_part(const Instruction& i) {
  return i.opcode == Opcode::shr && (i.type() == Type::u32 || i.type() == Type::b32) &&
         i.operands[2].kind == Operand::Kind::integer;
}
bool tests_zero(const Instruction& i) {
  return i.opcode == Opcode::setp && (i.has(Suffix::eq) || i.has(Suffix::ne)) && i.operands.size() == 3 &&
         i.operands[2].kind == Operand::Kind::integer && i.operands[2].bits == 0;
}
bool is_word_product(const Instruction& i, Suffix part) {
  return i.opcode == Opcode::mul && i.has(part) && is_word_type(i.type());
}
bool is_renaming(const Instruction& i) {
  if (i.opcode != Opcode::cvt || i.types.size() != 2 || !i.suffixes.empty()) return false;
  const auto is_unsigned = [](Type t) { return t == Type::u8 || t == Type::u16 || t == Type::u32 || t == Type::u64; };
  return is_unsigned(i.types[0]) && is_unsigned(i.types[1]);
}

std::uint32_t long_constants(const Instruction& i) {
  if (i.opcode == Opcode::mov || i.type() != Type::f64) return 0;
  return static_cast<std::uint32_t>(std::count_if(i.operands.begin(), i.operands.end(), [](const Operand& o) {
    return o.kind == Operand::Kind::f64 && (o.bits & 0xffffffffU) != 0;
  }));
}

bool changes_one_word(const Instruction& i) {
  if (i.types.empty() || !is_wide_type(i.type()) || i.operands.size() != 3) return false;
  if (i.operands[2].kind != Operand::Kind::integer) return false;
  switch (i.opcode) {
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
      return i.operands[2].bits <= 0xffffffffU;
    case Opcode::shl:
      return i.operands[2].bits >= 32;
    case Opcode::shr:
      return i.operands[2].bits >= 32 && i.type() == Type::u64;
    default:
      return false;
  }
}

bool is_atomic_sum(const Instruction& i) {
  return (i.opcode == Opcode::atom || i.opcode == Opcode::red) && i.has(Suffix::add) && is_word_type(i.type());
}
bool adds_constant(const Instruction& i) {
  return is_atomic_sum(i) && i.operands.back().kind == Operand::Kind::integer;
}

bool addresses_shared(const Instruction& i, std::uint32_t r) {
  const MemoryEffect effect = memory_effect(i);
  if ((!effect.reads && !effect.writes) || i.space() != Space::shared) return false;
  bool address = false;
  bool other = false;
  for (const Operand& o : i.operands) {
    const bool is_address = o.kind == Operand::Kind::address;
    for_each_register(o, [&](std::uint32_t n) { (is_address ? address : other) |= n == r; });
  }
  return address && !other;
}

bool is_long(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::div:
    case Opcode::rem:
    case Opcode::sqrt:
    case Opcode::rcp:
      return !i.has(Suffix::approx);
    default:
      return false;
  }
}

std::uint32_t integer_instructions(const Instruction& i) {
  if (i.types.empty() || !is_wide_type(i.type())) return 1;
  switch (i.opcode) {
    case Opcode::mul:
    case Opcode::mad:
      return i.has(Suffix::hi) ? 7 : 3;
    case Opcode::add:
    case Opcode::sub:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::setp:
    case Opcode::min:
    case Opcode::max:
    case Opcode::selp:
      return changes_one_word(i) ? 1 : 2;
    default:
      return 1;
  }
}

bool calls_subroutine(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::div:
    case Opcode::rcp:
    case Opcode::sqrt:
      return (i.type() == Type::f32 || i.type() == Type::f64 || is_wide_type(i.type())) && !i.has(Suffix::approx) &&
             !i.has(Suffix::full);
    case Opcode::rem:
      return is_wide_type(i.type());
    default:
      return false;
  }
}

}  // namespace wm::ptx
