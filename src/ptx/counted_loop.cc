#include "ptx/counted_loop.h"

#include <algorithm>
#include <vector>

#include "ptx/def_use.h"
#include "ptx/memory_effect.h"

namespace wm::ptx {
namespace {

bool is_plain_register(const Operand& operand) { return operand.kind == Operand::Kind::reg && !operand.negated; }

bool is_integer_type(Type type) {
  return type == Type::s32 || type == Type::u32 || type == Type::s64 || type == Type::u64;
}

// `add R, R, constant`: its step; nothing for other instructions.
std::optional<std::int64_t> step_of(const Instruction& i) {
  if (i.opcode != Opcode::add || i.guard.present || !i.suffixes.empty() || i.types.size() != 1 ||
      !is_integer_type(i.type()) || i.operands.size() != 3)
    return std::nullopt;
  if (!is_plain_register(i.operands[0]) || !is_plain_register(i.operands[1]) ||
      i.operands[0].index != i.operands[1].index)
    return std::nullopt;
  if (i.operands[2].kind != Operand::Kind::integer) return std::nullopt;
  return static_cast<std::int64_t>(i.operands[2].bits);
}

// The definitions of registers in a block.
class Definitions {
 public:
  Definitions(const Function& function, const BasicBlock& block) {
    for (std::uint32_t i = block.begin; i < block.end; ++i)
      for_each_definition(function.body[i], [&](std::uint32_t r) { by_register_[r].push_back(i); });
  }
  [[nodiscard]] std::size_t count(std::uint32_t reg) const {
    const auto found = by_register_.find(reg);
    return found == by_register_.end() ? 0 : found->second.size();
  }
  [[nodiscard]] const std::map<std::uint32_t, std::vector<std::uint32_t>>& all() const { return by_register_; }

 private:
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_register_;
};

bool may_be_repeated(const Instruction& i) {
  const MemoryEffect effect = memory_effect(i);
  return (!effect.fence || i.opcode == Opcode::bar) && !reads_clock(i) && !writes_carry(i) && !reads_carry(i) &&
         !ends_block(i) && i.opcode != Opcode::call;
}

// The number of times that the block reads the register, the guard of its last instruction included.
std::size_t reads_of(const Function& function, const BasicBlock& block, std::uint32_t reg) {
  std::size_t count = 0;
  for (std::uint32_t i = block.begin; i < block.end; ++i)
    for_each_use(function.body[i], [&](std::uint32_t r) { count += r == reg ? 1 : 0; });
  return count;
}

// Whether the test holds until a counter with that step reaches or passes its limit.
bool ends_at_limit(const Instruction& compare, std::int64_t step) {
  if (compare.suffixes.size() != 1 || compare.types.size() != 1 || !is_integer_type(compare.type())) return false;
  switch (compare.suffixes[0]) {
    case Suffix::ne:
      return true;
    case Suffix::lt:
    case Suffix::le:
      return step > 0;
    case Suffix::gt:
    case Suffix::ge:
      return step < 0;
    default:
      return false;
  }
}

}  // namespace

std::optional<CountedLoop> counted_loop(const Function& function, const BasicBlock& block) {
  if (block.end - block.begin < 3) return std::nullopt;
  const Instruction& back = function.body[block.end - 1];
  if (back.opcode != Opcode::bra || !back.guard.present || back.guard.negated || back.operands.size() != 1 ||
      back.operands[0].kind != Operand::Kind::label || function.labels[back.operands[0].index].at != block.begin)
    return std::nullopt;
  CountedLoop loop;
  loop.begin = block.begin;
  loop.end = block.end;
  for (std::uint32_t i = block.begin; i + 1 < block.end; ++i)
    if (!may_be_repeated(function.body[i])) return std::nullopt;
  const Definitions definitions(function, block);
  for (const auto& [reg, places] : definitions.all()) {
    if (places.size() != 1) continue;
    if (const auto step = step_of(function.body[places[0]])) loop.inductions[reg] = {places[0], *step};
  }
  const auto condition = definitions.all().find(back.guard.reg);
  if (condition == definitions.all().end() || condition->second.size() != 1 ||
      reads_of(function, block, back.guard.reg) != 1)
    return std::nullopt;
  loop.compare = condition->second[0];
  const Instruction& compare = function.body[loop.compare];
  if (compare.opcode != Opcode::setp || compare.guard.present || compare.operands.size() != 3 ||
      !is_plain_register(compare.operands[0]) || !is_plain_register(compare.operands[1]))
    return std::nullopt;
  loop.counter = compare.operands[1].index;
  const auto counter = loop.inductions.find(loop.counter);
  if (counter == loop.inductions.end() || counter->second.at > loop.compare) return std::nullopt;
  const Operand& limit = compare.operands[2];
  const bool is_constant = limit.kind == Operand::Kind::integer;
  if (!is_constant && (!is_plain_register(limit) || definitions.count(limit.index) != 0)) return std::nullopt;
  if (!ends_at_limit(compare, counter->second.step)) return std::nullopt;
  return loop;
}

}  // namespace wm::ptx
