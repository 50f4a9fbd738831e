#include "ptx/shared_values.h"

#include <map>
#include <utility>

#include "ptx/instruction_shape.h"
#include "ptx/memory_effect.h"

namespace wm::ptx {
namespace {

// Instructions of a division of words that depend on the divisor only.
constexpr std::uint8_t kReciprocal = 11;
constexpr std::uint8_t kSignedReciprocal = 15;

}  // namespace

bool SharedValues::takes_shared_address(const Instruction& i) const {
  if (i.opcode != Opcode::mov || i.operands.size() != 2) return false;
  const Operand& from = i.operands[1];
  return from.kind == Operand::Kind::variable && from.scope == Operand::Scope::local &&
         function_.variables[from.index].space == Space::shared;
}

void SharedValues::price() {
  share_ranges();
  price_addresses_of_loops();
  for (std::uint32_t i = 0; i < out_.size(); ++i) {
    share_reciprocal(i);
    price_parameter(i);
  }
  if (!function_.entry) return;
  ++out_[0].added;  // the stack
  price_descriptor();
}

// The address of a variable in shared memory depends on the block's place in its cluster: three instructions in each
// basic block that takes one, two for every further variable.
void SharedValues::price_addresses() {
  for (std::uint32_t i = 0; i < out_.size(); ++i) {
    if (!takes_shared_address(at(i))) continue;
    if (placement_.is_in_loop(flow_.block_of[i])) continue;  // computed before the loop
    out_[i].folded = false;
    out_[i].added = has_shared_base_.insert(flow_.block_of[i]).second ? 2 : 1;
  }
}

// The same before a loop, once for every variable.
void SharedValues::price_addresses_of_loops() {
  std::set<std::pair<std::uint32_t, std::uint32_t>> done;  // block and variable
  for (std::uint32_t i = 0; i < out_.size(); ++i) {
    if (!takes_shared_address(at(i))) continue;
    const std::uint32_t block = flow_.block_of[i];
    const std::uint32_t place = placement_.before_loops(block, 0);
    if (place == block || !done.emplace(place, at(i).operands[1].index).second) continue;
    charge(place, has_shared_base_.insert(place).second ? 3 : 2);
  }
}

// Adds instructions to a block. False: it has none that could take them.
bool SharedValues::charge(std::uint32_t block, std::uint8_t count) {
  for (std::uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
    const Opcode op = at(i).opcode;
    const bool may_vanish =
        op == Opcode::cvta || op == Opcode::neg || op == Opcode::abs || (op == Opcode::bra && !at(i).guard.present);
    if (out_[i].folded || may_vanish) continue;
    out_[i].added = static_cast<std::uint8_t>(out_[i].added + count);
    return true;
  }
  return false;
}

// The reciprocal of a divisor is computed once in a block, and before a loop that does not change it, if every turn
// divides by it.
void SharedValues::share_reciprocal(std::uint32_t i) {
  const Instruction& division = at(i);
  if ((division.opcode != Opcode::div && division.opcode != Opcode::rem) || !is_word_type(division.type())) return;
  if (division.guard.present || division.operands[2].kind != Operand::Kind::reg) return;
  const std::uint32_t divisor = division.operands[2].index;
  const std::uint32_t d = values_.definition(divisor);
  if (d == LaneValues::kNone) return;
  const bool has_sign = division.type() == Type::s32;
  const std::uint32_t block = flow_.block_of[i];
  const std::uint32_t place = placement_.before_loops_that_pass(block, flow_.block_of[d]);
  const bool is_first = reciprocals_.emplace(place, divisor, has_sign).second;
  if (is_first && place == block) return;
  out_[i].has_reciprocal = !is_first || charge(place, has_sign ? kSignedReciprocal : kReciprocal);
}

// The instructions that read a value, possibly renamed or converted to an address.
void SharedValues::find_readers(std::uint32_t reg, std::vector<std::uint32_t>& readers, bool& is_pointer) const {
  for (const std::uint32_t n : values_.readers(reg)) {
    const Instruction& in = at(n);
    const bool copies =
        in.opcode == Opcode::cvta || is_renaming(in) || (in.opcode == Opcode::mov && in.operands.size() == 2);
    if (copies && !in.guard.present && in.operands[0].kind == Operand::Kind::reg &&
        values_.definition(in.operands[0].index) == n) {
      is_pointer = is_pointer || in.opcode == Opcode::cvta;
      find_readers(in.operands[0].index, readers, is_pointer);
    } else {
      readers.push_back(n);
    }
  }
}

// A parameter is read where it is used first; a pointer in each block that computes addresses with it, or before the
// loop unless several addresses of a turn need it.
void SharedValues::price_parameter(std::uint32_t i) {
  const Instruction& load = at(i);
  if (!function_.entry || load.opcode != Opcode::ld || load.space() != Space::param || load.guard.present ||
      load.operands[0].kind != Operand::Kind::reg || values_.definition(load.operands[0].index) != i)
    return;
  std::vector<std::uint32_t> readers;
  bool is_pointer = false;
  find_readers(load.operands[0].index, readers, is_pointer);
  std::set<std::uint32_t> places;
  std::map<std::uint32_t, std::uint32_t> sums;  // by block
  for (const std::uint32_t n : readers) sums[flow_.block_of[n]] += out_[n].is_wide_product ? 1 : 0;
  for (const std::uint32_t n : readers) {
    const std::uint32_t block = flow_.block_of[n];
    const bool is_repeated = is_pointer && sums[block] > 1;
    places.insert(is_repeated ? block : placement_.before_loops(block, flow_.block_of[i]));
  }
  if (!is_pointer && !places.empty()) {
    std::uint32_t first = *places.begin();
    for (const std::uint32_t place : places) first = placement_.common_dominator(first, place);
    places = {first};
  }
  if (places.contains(flow_.block_of[i])) {
    places.erase(flow_.block_of[i]);
  } else {
    out_[i].folded = true;
  }
  for (const std::uint32_t place : places) charge(place, 1);
}

// The descriptor of global memory is read in the last block that all paths to its accesses pass.
void SharedValues::price_descriptor() {
  std::uint32_t place = kNoBlock;
  for (std::uint32_t i = 0; i < out_.size(); ++i) {
    const MemoryEffect effect = memory_effect(at(i));
    if ((!effect.reads && !effect.writes) || (effect.space != Space::global && effect.space != Space::generic))
      continue;
    const std::uint32_t block = placement_.before_loops(flow_.block_of[i], 0);
    place = place == kNoBlock ? block : placement_.common_dominator(place, block);
  }
  if (place != kNoBlock && !charge(place, 1)) ++out_[0].added;
}

// One multiplication scales the argument of a sine and a cosine.
void SharedValues::share_ranges() {
  std::set<std::pair<std::uint32_t, std::uint32_t>> scaled;  // block and argument
  for (std::uint32_t i = 0; i < out_.size(); ++i) {
    const Instruction& in = at(i);
    if ((in.opcode != Opcode::sin && in.opcode != Opcode::cos) || in.operands[1].kind != Operand::Kind::reg) continue;
    if (values_.definition(in.operands[1].index) == LaneValues::kNone) continue;
    out_[i].has_range = !scaled.emplace(flow_.block_of[i], in.operands[1].index).second;
  }
}

}  // namespace wm::ptx
