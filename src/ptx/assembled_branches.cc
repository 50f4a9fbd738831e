#include "ptx/assembled_branches.h"

#include "ptx/def_use.h"
#include "ptx/instruction_shape.h"
#include "ptx/memory_effect.h"

namespace wm::ptx {
namespace {

constexpr std::uint32_t kMaxPredicated = 7;  // instructions behind a branch that become predicated

}  // namespace

void AssembledBranches::find_splits() {
  for (std::uint32_t i = 0; i < out_.size(); ++i) {
    out_[i].parts_lanes = at(i).opcode == Opcode::bra && at(i).guard.present && values_.differs(at(i).guard.reg);
    out_[i].is_split_before = out_[i].parts_lanes && (leaves_loop(i) || is_split_before(i));
  }
}

void AssembledBranches::fold() {
  for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) convert(b);
  for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) fold_jump(b);
}

// Whether the branch goes from a block of a loop to one behind it.
bool AssembledBranches::leaves_loop(std::uint32_t i) const {
  const std::uint32_t from = flow_.block_of[i];
  const std::uint32_t next = from + 1;
  for (const std::uint32_t to : flow_.blocks[from].successors) {
    if (to <= next) continue;
    for (std::uint32_t last = from; last < to; ++last)
      for (const std::uint32_t first : flow_.blocks[last].successors)
        if (first <= from && first <= last) return true;
  }
  return false;
}

// Whether lanes that an earlier branch parts, and that meet where those of this branch do, were split there.
bool AssembledBranches::is_split_before(std::uint32_t i) const {
  const std::uint32_t block = flow_.block_of[i];
  const std::uint32_t meet = flow_.post_dominator[block];
  if (meet == kNoBlock) return false;
  for (std::uint32_t b = 0; b < block; ++b) {
    if (flow_.post_dominator[b] != meet || flow_.blocks[b].end == flow_.blocks[b].begin) continue;
    const Instruction& last = at(flow_.blocks[b].end - 1);
    if (last.opcode == Opcode::bra && last.guard.present && values_.differs(last.guard.reg) &&
        placement_.dominates(b, block))
      return true;
  }
  return false;
}

// Whether a block can become predicated: straight-line code that is entered from `from` only.
bool AssembledBranches::can_be_predicated(std::uint32_t b, std::uint32_t from, std::uint32_t limit) const {
  const BasicBlock& block = flow_.blocks[b];
  if (block.predecessors.size() != 1 || block.predecessors[0] != from) return false;
  std::uint32_t count = 0;
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    const Instruction& in = at(i);
    if (in.opcode == Opcode::bra && !in.guard.present && i + 1 == block.end) continue;
    if (ends_block(in) || is_long(in) || memory_effect(in).fence) return false;
    count += out_[i].folded ? 0 : integer_instructions(in);
  }
  return count <= limit;
}

// A branch over a few instructions, or to one of two short alternatives, is replaced by predicates.
void AssembledBranches::convert(std::uint32_t b) {
  const BasicBlock& block = flow_.blocks[b];
  const std::uint32_t last = block.end - 1;
  if (block.end == block.begin || at(last).opcode != Opcode::bra || !at(last).guard.present) return;
  if (block.successors.size() != 2) return;
  const std::uint32_t then = b + 1;
  const std::uint32_t other = block.successors[0] == then ? block.successors[1] : block.successors[0];
  if (other <= then || then >= flow_.blocks.size()) return;
  // A branch to the end is an exit with a predicate.
  if (const Opcode end = at(flow_.blocks[other].begin).opcode; end == Opcode::ret || end == Opcode::exit) return;
  const auto leads_to = [&](std::uint32_t from, std::uint32_t to) {
    return flow_.blocks[from].successors.size() == 1 && flow_.blocks[from].successors[0] == to;
  };
  const bool skips = leads_to(then, other) && can_be_predicated(then, b, kMaxPredicated);
  const bool chooses =
      !skips && flow_.blocks[then].successors.size() == 1 && leads_to(other, flow_.blocks[then].successors[0]) &&
      can_be_predicated(then, b, kMaxPredicated / 2) && can_be_predicated(other, b, kMaxPredicated / 2);
  if (!skips && !chooses) return;
  out_[last].folded = true;
  if (const std::uint32_t jump = flow_.blocks[then].end - 1; chooses && at(jump).opcode == Opcode::bra)
    out_[jump].folded = true;
}

// A block that only jumps is the other side of the branch before it. One of the blocks that jump ahead to a place can
// lie before it, unless another block does.
void AssembledBranches::fold_jump(std::uint32_t b) {
  const BasicBlock& block = flow_.blocks[b];
  if (block.end == block.begin) return;
  const std::uint32_t last = block.end - 1;
  if (at(last).opcode != Opcode::bra || at(last).guard.present || block.successors.size() != 1) return;
  const std::uint32_t to = block.successors[0];
  if (to == b + 1 || block.begin == last) {
    out_[last].folded = true;
    return;
  }
  if (to <= b) return;
  const BasicBlock& before = flow_.blocks[to - 1];
  const bool is_entered = before.end == before.begin || falls_through(before.end - 1);
  if (!is_entered && follows_jump_.insert(to).second) out_[last].folded = true;
}

bool AssembledBranches::falls_through(std::uint32_t i) const {
  const Opcode op = at(i).opcode;
  const bool leaves =
      op == Opcode::bra || op == Opcode::ret || op == Opcode::exit || op == Opcode::trap || op == Opcode::brx_idx;
  return !leaves || at(i).guard.present;
}

}  // namespace wm::ptx
