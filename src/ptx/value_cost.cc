#include "ptx/value_cost.h"

#include <algorithm>

#include "ptx/def_use.h"

namespace wm::ptx {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;
constexpr std::uint32_t kMany = 0xfffffffeU;

bool is_register(const Operand& operand) { return operand.kind == Operand::Kind::reg; }
bool is_constant(const Operand& operand) {
  return operand.kind == Operand::Kind::integer || operand.kind == Operand::Kind::f32 ||
         operand.kind == Operand::Kind::f64 || operand.kind == Operand::Kind::variable ||
         operand.kind == Operand::Kind::function;
}

// Read once a thread and different in each lane: these are kept in registers, the others are shared by the warp.
bool differs_by_lane(Special special) {
  switch (special) {
    case Special::tid_x:
    case Special::tid_y:
    case Special::tid_z:
    case Special::laneid:
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
    case Special::clock:
    case Special::clock_hi:
    case Special::clock64:
    case Special::globaltimer:
    case Special::globaltimer_lo:
    case Special::globaltimer_hi:
      return true;
    default:
      return false;
  }
}

// True for operations of the uniform datapath: integer and logic operations on words.
bool is_uniform_operation(Opcode opcode) {
  switch (opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::neg:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::shf:
    case Opcode::lop3:
    case Opcode::cvt:
    case Opcode::cvta:
    case Opcode::mov:
    case Opcode::popc:
    case Opcode::brev:
      return true;
    default:
      return false;
  }
}

bool is_integer(const Instruction& instruction) {
  return std::none_of(instruction.types.begin(), instruction.types.end(), [](Type t) { return is_float(t); });
}

}  // namespace

ValueCost::ValueCost(const Function& function) : function_(function) {
  const std::size_t count = function.registers.size();
  free_.resize(count);
  root_.resize(count);
  words_.resize(count);
  vanishes_.resize(function.body.size());
  for (std::uint32_t r = 0; r < count; ++r) {
    const Type type = function.registers[r].type;
    root_[r] = r;
    words_[r] = type == Type::pred ? 0 : static_cast<std::uint32_t>((bits(type) + 31) / 32);
  }
  find_definitions();
  find_free_values();
  find_recomputed_values();
  find_low_halves();
}

void ValueCost::find_definitions() {
  definition_.assign(function_.registers.size(), kNone);
  for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
    const bool guarded = function_.body[i].guard.present;
    for_each_definition(function_.body[i],
                        [&](std::uint32_t r) { definition_[r] = definition_[r] == kNone && !guarded ? i : kMany; });
  }
}

bool ValueCost::is_free(const Operand& operand) const {
  if (is_register(operand)) return free_[operand.index];
  if (operand.kind == Operand::Kind::special) return !differs_by_lane(operand.special);
  if (operand.kind == Operand::Kind::address) return is_free(operand.elements[0]);
  return is_constant(operand);
}

bool ValueCost::is_free_now(const Instruction& instruction) const {
  if (instruction.guard.present || instruction.operands.size() < 2 || !is_register(instruction.operands[0]))
    return false;
  const auto sources_free = [&] {
    return std::all_of(instruction.operands.begin() + 1, instruction.operands.end(),
                       [&](const Operand& o) { return is_free(o); });
  };
  if (instruction.opcode == Opcode::ld) {
    const bool bank =
        instruction.space() == Space::constant || (instruction.space() == Space::param && function_.entry);
    return bank && sources_free();
  }
  if (instruction.opcode == Opcode::mov) return sources_free();
  return is_uniform_operation(instruction.opcode) && is_integer(instruction) && sources_free();
}

void ValueCost::find_free_values() {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      const Instruction& instruction = function_.body[i];
      if (vanishes_[i] || !has_destination(instruction) || !is_free_now(instruction)) continue;
      const std::uint32_t r = instruction.operands[0].index;
      if (definition_[r] != i || function_.registers[r].type == Type::pred) continue;
      free_[r] = vanishes_[i] = changed = true;
      words_[r] = 0;
    }
  }
}

void ValueCost::find_recomputed_values() {
  // In the order of the text a value's source comes before it, but for loops, whose values have several definitions.
  for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
    const Instruction& instruction = function_.body[i];
    if (vanishes_[i] || instruction.guard.present || instruction.operands.size() < 2) continue;
    if (!has_destination(instruction) || !is_register(instruction.operands[0])) continue;
    const Operand& source = instruction.operands[1];
    const std::uint32_t r = instruction.operands[0].index;
    if (definition_[r] != i || !is_register(source) || definition_[source.index] == kMany) continue;
    if (!is_integer(instruction) || function_.registers[r].type == Type::pred) continue;
    const Opcode op = instruction.opcode;
    const bool constant = instruction.operands.size() == 3 && is_constant(instruction.operands[2]);
    const bool widens = op == Opcode::cvt || (op == Opcode::mul && instruction.has(Suffix::wide) && constant);
    const bool offsets = op == Opcode::add && constant && bits(instruction.type()) == 64;
    const bool copies = op == Opcode::mov || op == Opcode::cvta;
    const bool scales = op == Opcode::shl && constant && bits(instruction.type()) == 64;
    if (!widens && !offsets && !copies && !scales) continue;
    root_[r] = root_[source.index];
    vanishes_[i] = true;
    words_[r] = 0;
  }
}

void ValueCost::find_low_halves() {
  // Assume that only the low half of every 64-bit value is used; then mark the values with a reader that uses both
  // halves.
  std::vector<bool> needs_high_half(function_.registers.size());
  const auto want = [&](const Operand& operand) {
    bool fresh = false;
    for_each_register(operand, [&](std::uint32_t r) {
      fresh = fresh || !needs_high_half[r];
      needs_high_half[r] = true;
    });
    return fresh;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = function_.body.size(); i-- > 0;) {
      const Instruction& instruction = function_.body[i];
      const Space space = instruction.space();
      const bool low_result = has_destination(instruction) && is_register(instruction.operands[0]) &&
                              !needs_high_half[instruction.operands[0].index];
      bool low = false;  // whether this reader uses only low halves
      switch (instruction.opcode) {
        case Opcode::add:
        case Opcode::sub:
        case Opcode::mad:
        case Opcode::mul:
        case Opcode::and_:
        case Opcode::or_:
        case Opcode::xor_:
        case Opcode::not_:
        case Opcode::neg:
        case Opcode::shl:
        case Opcode::selp:
        case Opcode::mov:
        case Opcode::cvta:
          low = low_result && !instruction.has(Suffix::hi) && !instruction.has(Suffix::cc);
          break;
        case Opcode::cvt:
          low = is_integer(instruction) && (bits(instruction.type()) <= 32 || low_result);
          break;
        default:
          break;
      }
      for (std::size_t o = has_destination(instruction) ? 1 : 0; o < instruction.operands.size(); ++o) {
        const Operand& operand = instruction.operands[o];
        const bool near = space == Space::shared || space == Space::local;
        if (low || (operand.kind == Operand::Kind::address && near)) continue;
        changed = want(operand) || changed;
      }
    }
  }
  for (std::uint32_t r = 0; r < needs_high_half.size(); ++r)
    if (!needs_high_half[r] && words_[r] == 2) words_[r] = 1;
}

}  // namespace wm::ptx
