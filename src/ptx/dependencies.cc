#include "ptx/dependencies.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <vector>

#include "ptx/analysis.h"
#include "ptx/def_use.h"
#include "ptx/memory_effect.h"

namespace wm::ptx {
namespace {

// Everything about one instruction that decides whether another may be moved across it.
struct Facts {
  std::vector<std::uint32_t> reads;   // registers
  std::vector<std::uint32_t> writes;  // registers
  MemoryEffect memory;
  bool pinned = false;  // no instruction may be moved across it
  bool reads_carry = false;
  bool writes_carry = false;
};

Facts facts_of(const Instruction& instruction) {
  Facts result;
  for_each_use(instruction, [&](std::uint32_t r) { result.reads.push_back(r); });
  for_each_definition(instruction, [&](std::uint32_t r) { result.writes.push_back(r); });
  result.memory = memory_effect(instruction);
  result.pinned = ends_block(instruction) || reads_clock(instruction);
  result.reads_carry = reads_carry(instruction);
  result.writes_carry = writes_carry(instruction);
  return result;
}

bool intersect(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::uint32_t r) { return std::find(b.begin(), b.end(), r) != b.end(); });
}

bool registers_conflict(const Facts& a, const Facts& b) {
  return intersect(a.writes, b.reads) || intersect(a.reads, b.writes) || intersect(a.writes, b.writes);
}

bool carry_conflicts(const Facts& a, const Facts& b) {
  return (a.writes_carry && (b.reads_carry || b.writes_carry)) || (a.reads_carry && b.writes_carry);
}

bool memory_conflicts(const MemoryEffect& a, const MemoryEffect& b) {
  const auto ordered = [](const MemoryEffect& e) { return e.fence || ((e.reads || e.writes) && !e.constant); };
  if ((a.fence && ordered(b)) || (b.fence && ordered(a))) return true;
  if (!(a.writes && (b.reads || b.writes)) && !(b.writes && a.reads)) return false;
  if (a.constant || b.constant) return a.space == Space::param && b.space == Space::param;
  return may_overlap(a.space, b.space);
}

bool must_follow(const Facts& first, const Facts& then) {
  return first.pinned || then.pinned || registers_conflict(first, then) || carry_conflicts(first, then) ||
         memory_conflicts(first.memory, then.memory);
}

// The place in the original block of every instruction of the reordered one: equal instructions are matched in their
// order. Empty if the two do not hold the same instructions.
std::vector<std::uint32_t> matched(const Function& original, const Function& reordered, const BasicBlock& block) {
  std::vector<std::uint32_t> order;
  std::vector<bool> taken(block.end - block.begin);
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    std::uint32_t at = block.begin;
    while (at < block.end && (taken[at - block.begin] || !(original.body[at] == reordered.body[i]))) ++at;
    if (at == block.end) return {};
    taken[at - block.begin] = true;
    order.push_back(at);
  }
  return order;
}

std::string describe(const Instruction& instruction, std::uint32_t index) {
  return fmt::format("'{}' (instruction {}, line {})", name(instruction.opcode), index, instruction.position.line);
}

}  // namespace

bool must_follow(const Instruction& first, const Instruction& then) {
  return must_follow(facts_of(first), facts_of(then));
}

std::optional<std::string> violated_dependency(const Function& original, const Function& reordered) {
  if (original.body.size() != reordered.body.size()) return "the functions differ in their number of instructions";
  std::vector<Facts> facts;
  for (const Instruction& i : original.body) facts.push_back(facts_of(i));
  for (const BasicBlock& block : control_flow(original).blocks) {
    const std::vector<std::uint32_t> order = matched(original, reordered, block);
    if (order.empty() && block.begin != block.end)
      return fmt::format("the block at instruction {} does not hold the same instructions", block.begin);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t j = i + 1; j < order.size(); ++j)
        if (order[j] < order[i] && must_follow(facts[order[j]], facts[order[i]]))
          return fmt::format("{} was moved before {}, on which it depends", describe(original.body[order[i]], order[i]),
                             describe(original.body[order[j]], order[j]));
  }
  return {};
}

}  // namespace wm::ptx
