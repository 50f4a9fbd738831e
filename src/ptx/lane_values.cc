#include "ptx/lane_values.h"

#include <algorithm>
#include <bit>

#include "ptx/def_use.h"

namespace wm::ptx {
namespace {

constexpr std::uint32_t kAligned = 4;  // bits: addresses of variables
constexpr std::uint32_t kMaxZeros = 16;
constexpr std::uint32_t kMaxDefinitions = 12;  // definitions that are followed

bool varies_by_lane(Special special) {
  switch (special) {
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
    case Special::ntid_x:
    case Special::ntid_y:
    case Special::ntid_z:
    case Special::nctaid_x:
    case Special::nctaid_y:
    case Special::nctaid_z:
      return false;
    default:
      return true;
  }
}

bool has_lane_special(const Operand& operand) {
  if (operand.kind == Operand::Kind::special) return varies_by_lane(operand.special);
  return std::any_of(operand.elements.begin(), operand.elements.end(), has_lane_special);
}

// Results of these differ by lane whatever their operands are.
bool is_lane_source(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
      return i.space() != Space::param && i.space() != Space::constant;
    case Opcode::atom:
    case Opcode::shfl:
    case Opcode::call:
    case Opcode::ldmatrix:
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::suld_b:
    case Opcode::mma:
      return true;
    default:
      return false;
  }
}

}  // namespace

LaneValues::LaneValues(const Function& function)
    : function_(function),
      writers_(function.registers.size()),
      readers_(function.registers.size()),
      differs_(function.registers.size()) {
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    for_each_definition(function.body[i], [&](std::uint32_t r) { writers_[r].push_back(i); });
    for_each_use(function.body[i], [&](std::uint32_t r) { readers_[r].push_back(i); });
  }
  find_differences();
}

bool LaneValues::makes_difference(const Instruction& instruction) const {
  // The lanes that vote all receive the same.
  if (instruction.opcode == Opcode::vote || instruction.opcode == Opcode::activemask) return false;
  if (is_lane_source(instruction)) return true;
  if (std::any_of(instruction.operands.begin(), instruction.operands.end(), has_lane_special)) return true;
  bool found = false;
  for_each_use(instruction, [&](std::uint32_t r) { found |= differs_[r]; });
  return found;
}

void LaneValues::find_differences() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& i : function_.body) {
      if (!makes_difference(i)) continue;
      for_each_definition(i, [&](std::uint32_t r) {
        changed |= !differs_[r];
        differs_[r] = true;
      });
    }
  }
}

std::uint32_t LaneValues::low_zeros(const Operand& operand, std::uint32_t depth) const {
  if (operand.kind == Operand::Kind::integer)
    return operand.bits == 0 ? kMaxZeros : static_cast<std::uint32_t>(std::countr_zero(operand.bits));
  if (operand.kind == Operand::Kind::variable)
    return std::min(kAligned, operand.offset == 0 ? kAligned
                                                  : static_cast<std::uint32_t>(
                                                        std::countr_zero(static_cast<std::uint64_t>(operand.offset))));
  return operand.kind == Operand::Kind::reg ? low_zeros(operand.index, depth + 1) : 0;
}

std::uint32_t LaneValues::low_zeros(std::uint32_t reg, std::uint32_t depth) const {
  return std::min(defined_low_zeros(reg, depth), kMaxZeros);
}

std::uint32_t LaneValues::defined_low_zeros(std::uint32_t reg, std::uint32_t depth) const {
  const std::uint32_t d = definition(reg);
  if (d == kNone || depth > kMaxDefinitions) return 0;
  const Instruction& i = function_.body[d];
  const auto zeros = [&](std::size_t n) { return low_zeros(i.operands[n], depth); };
  switch (i.opcode) {
    case Opcode::mov:
    case Opcode::cvta:
    case Opcode::cvt:
      return zeros(1);
    case Opcode::shl:
      return i.operands[2].kind == Operand::Kind::integer ? zeros(1) + static_cast<std::uint32_t>(i.operands[2].bits)
                                                          : zeros(1);
    case Opcode::mul:
      return zeros(1) + zeros(2);
    case Opcode::mad:
      return std::min(zeros(1) + zeros(2), zeros(3));
    case Opcode::add:
    case Opcode::sub:
    case Opcode::or_:
      return std::min(zeros(1), zeros(2));
    case Opcode::and_:
      return std::max(zeros(1), zeros(2));
    default:
      return 0;
  }
}

}  // namespace wm::ptx
