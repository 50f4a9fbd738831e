#include "ptx/assembly.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ptx/analysis.h"
#include "ptx/def_use.h"
#include "ptx/instruction_shape.h"
#include "ptx/joined_accesses.h"
#include "ptx/lane_values.h"
#include "ptx/memory_effect.h"
#include "ptx/unroll.h"

namespace wm::ptx {
namespace {

constexpr std::uint32_t kMaxPredicated = 7;  // instructions behind a branch that become predicated
// Instructions that choose the lane of a combined atomic, add up the values, and give every lane its result.
constexpr std::uint8_t kCombined = 5;
constexpr std::uint8_t kCombinedWithResult = 11;

class Assembler {
 public:
  explicit Assembler(const Function& function)
      : function_(function), flow_(control_flow(function)), out_(function.body.size()), values_(function) {}

  std::vector<AssembledInstruction> run() {
    if (function_.body.empty()) return out_;
    for (std::uint32_t i = 0; i < out_.size(); ++i) {
      fold_by_itself(i);
      fold_producer(i);
    }
    price_shared_bases();
    for (std::uint32_t i = 0; i < out_.size(); ++i) {
      fold_shift(i);
      fold_wide_product(i);
      fold_extension(i);
    }
    fold_half_products();
    join_shared_accesses(function_, flow_, values_, Opcode::ld, out_);
    join_shared_accesses(function_, flow_, values_, Opcode::st, out_);
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) convert_branch(b);
    if (function_.entry) out_[0].added = static_cast<std::uint8_t>(out_[0].added + 1 + (uses_global() ? 1 : 0));
    return out_;
  }

 private:
  [[nodiscard]] const Instruction& at(std::uint32_t i) const { return function_.body[i]; }

  void fold_by_itself(std::uint32_t i) {
    out_[i].folded = is_predicate_logic(at(i)) || is_renaming(at(i)) || is_free_move(at(i)) || is_limit_test(at(i)) ||
                     (!function_.entry && at(i).opcode == Opcode::ld && at(i).space() == Space::param);
    out_[i].is_unused = at(i).opcode == Opcode::atom && at(i).operands[0].kind == Operand::Kind::reg &&
                        values_.uses(at(i).operands[0].index) == 0;
    out_[i].is_increment = adds_constant(at(i));
    out_[i].parts_lanes = at(i).opcode == Opcode::bra && at(i).guard.present && values_.differs(at(i).guard.reg);
    out_[i].leaves_loop = out_[i].parts_lanes && leaves_loop(i);
    out_[i].is_one_word = changes_one_word(at(i));
    out_[i].added = static_cast<std::uint8_t>(2 * long_constants(at(i)) + (has_long_factors(i) ? 1 : 0));
    combine_atomic(i);
    out_[i].folded = out_[i].folded || is_uniform_offset(i);
  }

  // An atomic sum at an address that all lanes share is made by one lane. Its value is added up first; where the result
  // is used, that is possible only if all lanes add the same.
  void combine_atomic(std::uint32_t i) {
    const Instruction& atomic = at(i);
    if (!is_atomic_sum(atomic) || atomic.space() == Space::shared) return;
    const bool returns = atomic.opcode == Opcode::atom && !out_[i].is_unused;
    const auto differs = [&](const Operand& operand) {
      bool found = false;
      for_each_register(operand, [&](std::uint32_t r) { found |= values_.differs(r); });
      return found;
    };
    const bool values_differ = differs(atomic.operands.back());
    if (differs(atomic.operands[atomic.opcode == Opcode::atom ? 1 : 0]) || (returns && values_differ)) return;
    out_[i].is_combined = true;
    out_[i].added = returns ? kCombinedWithResult : kCombined;
  }

  // A product of 64 bits both of whose factors have a high half.
  [[nodiscard]] bool has_long_factors(std::uint32_t i) const {
    const Instruction& product = at(i);
    if ((product.opcode != Opcode::mul && product.opcode != Opcode::mad) || !product.has(Suffix::lo) ||
        !is_wide_type(product.type()))
      return false;
    const auto is_short = [&](const Operand& o) {
      if (o.kind == Operand::Kind::integer) return o.bits <= 0xffffffffU;
      const std::uint32_t d = o.kind == Operand::Kind::reg ? values_.definition(o.index) : LaneValues::kNone;
      return d != LaneValues::kNone && is_renaming(at(d));
    };
    return !is_short(product.operands[1]) && !is_short(product.operands[2]);
  }

  // Blocks of a loop are neighbours.
  [[nodiscard]] bool is_in_loop(std::uint32_t block) const {
    for (std::uint32_t last = block; last < flow_.blocks.size(); ++last)
      for (const std::uint32_t first : flow_.blocks[last].successors)
        if (first <= block) return true;
    return false;
  }

  // Whether lanes of a warp that reach the block reach it together: no branch that lanes take differently passes it, or
  // returns from behind it.
  [[nodiscard]] bool is_convergent(std::uint32_t block) const {
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
      if (flow_.blocks[b].end == flow_.blocks[b].begin) continue;
      const Instruction& last = at(flow_.blocks[b].end - 1);
      if (last.opcode != Opcode::bra || !last.guard.present || !values_.differs(last.guard.reg)) continue;
      for (const std::uint32_t to : flow_.blocks[b].successors) {
        const Opcode begin = at(flow_.blocks[to].begin).opcode;
        if (b < block && to > block && begin != Opcode::ret && begin != Opcode::exit) return false;
        if (b >= block && to <= block) return false;
      }
    }
    return true;
  }

  // Whether the branch goes from a block of a loop to one behind it.
  [[nodiscard]] bool leaves_loop(std::uint32_t i) const {
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

  [[nodiscard]] bool is_shared_variable(const Operand& operand) const {
    return operand.kind == Operand::Kind::variable && operand.scope == Operand::Scope::local &&
           function_.variables[operand.index].space == Space::shared;
  }

  // The address of a variable in shared memory depends on the block's place in its cluster: three instructions in each
  // basic block that takes one, two for every further variable.
  void price_shared_bases() {
    std::set<std::uint32_t> blocks;
    for (std::uint32_t i = 0; i < out_.size(); ++i) {
      if (at(i).opcode != Opcode::mov || at(i).operands.size() != 2 || !is_shared_variable(at(i).operands[1])) continue;
      if (is_in_loop(flow_.block_of[i])) continue;  // computed before the loop
      out_[i].folded = false;
      out_[i].added = blocks.insert(flow_.block_of[i]).second ? 2 : 1;
    }
  }

  [[nodiscard]] bool is_limit_test(const Instruction& i) const {
    if (i.opcode == Opcode::sub && i.operands[1].kind == Operand::Kind::integer)
      return i.operands[2].kind == Operand::Kind::integer;
    return (i.opcode == Opcode::setp || i.opcode == Opcode::selp) && i.operands[0].kind == Operand::Kind::reg &&
           function_.registers[i.operands[0].index].name.starts_with(kLimitRegister);
  }

  // Copies are renamings and constants are operands; special registers, and constants that begin a loop's value, are
  // not.
  [[nodiscard]] bool is_free_move(const Instruction& i) const {
    if (i.opcode != Opcode::mov || i.operands.size() != 2) return false;
    const Operand& from = i.operands[1];
    if (from.kind == Operand::Kind::special) return false;
    const bool constant = from.kind == Operand::Kind::integer || from.kind == Operand::Kind::f32;
    return !constant || i.operands[0].kind != Operand::Kind::reg ||
           values_.definition(i.operands[0].index) != LaneValues::kNone;
  }

  // A sum with a value that all lanes share, which only addresses of shared memory read: part of those addresses.
  [[nodiscard]] bool is_uniform_offset(std::uint32_t i) const {
    const Instruction& sum = at(i);
    if (sum.opcode != Opcode::add || !is_word_type(sum.type()) || sum.guard.present) return false;
    const std::uint32_t r = sum.operands[0].index;
    const auto is_shared_by_lanes = [&](const Operand& o) {
      if (o.kind != Operand::Kind::reg) return true;
      const std::uint32_t d = values_.definition(o.index);
      return !values_.differs(o.index) && (d == LaneValues::kNone || is_convergent(flow_.block_of[d]));
    };
    if (!is_shared_by_lanes(sum.operands[1]) && !is_shared_by_lanes(sum.operands[2])) return false;
    const auto& readers = values_.readers(r);
    return values_.definition(r) == i && !readers.empty() &&
           std::all_of(readers.begin(), readers.end(), [&](std::uint32_t n) { return addresses_shared(at(n), r); });
  }

  // The only definition, in the same block, of the register that operand `n` of `i` reads, if no other instruction
  // reads it.
  [[nodiscard]] std::uint32_t only_producer(std::uint32_t i, std::size_t n) const {
    const Operand& operand = at(i).operands[n];
    if (operand.kind != Operand::Kind::reg || values_.uses(operand.index) != 1) return LaneValues::kNone;
    const std::uint32_t d = values_.definition(operand.index);
    if (d >= out_.size() || flow_.block_of[d] != flow_.block_of[i] || at(d).guard.present) return LaneValues::kNone;
    return d;
  }

  // Sums and logic of three operands, a shift with a sum, and a mask with its test are one instruction each: the first
  // of two is folded.
  void fold_producer(std::uint32_t i) {
    const Instruction& then = at(i);
    if (then.guard.present || then.operands.size() < 2 || out_[i].folded) return;
    for (std::size_t n = 1; n < then.operands.size(); ++n) {
      const std::uint32_t d = only_producer(i, n);
      if (d == LaneValues::kNone || out_[d].folded || absorbed_.contains(d)) continue;
      const Instruction& first = at(d);
      // A product of 64 bits takes a sum of a register with it.
      if (then.opcode == Opcode::add && is_wide_type(then.type()) && then.suffixes.empty() &&
          first.opcode == Opcode::mul && first.has(Suffix::lo) && then.operands[3 - n].kind == Operand::Kind::reg) {
        out_[i].folded = true;
        return;
      }
      const bool pair =
          (is_word_sum(then) && (is_word_sum(first) || shifts_by_constant(first, Type::b32))) ||
          (is_word_logic(then) && is_word_logic(first)) ||
          (tests_zero(then) && first.opcode == Opcode::and_ && is_word_type(first.type())) ||
          (then.opcode == Opcode::add && is_wide_type(then.type()) && shifts_by_constant(first, Type::b64));
      if (!pair) continue;
      out_[d].folded = true;
      absorbed_[i] = true;
      return;
    }
  }

  // A shift that only sums read is part of each of them.
  void fold_shift(std::uint32_t i) {
    if (out_[i].folded || at(i).guard.present || !shifts_by_constant(at(i), Type::b32)) return;
    const std::uint32_t r = at(i).operands[0].index;
    const auto& readers = values_.readers(r);
    if (values_.definition(r) != i || readers.empty()) return;
    const bool all_sums = std::all_of(readers.begin(), readers.end(), [&](std::uint32_t n) {
      return is_word_sum(at(n)) && !at(n).guard.present && !out_[n].folded && !absorbed_.contains(n);
    });
    if (!all_sums) return;
    out_[i].folded = true;
    for (const std::uint32_t n : readers) absorbed_[n] = true;
  }

  // A widening product that only sums read is computed again with each of them, by one multiply-add.
  void fold_wide_product(std::uint32_t i) {
    const Instruction& product = at(i);
    if (product.opcode != Opcode::mul || !product.has(Suffix::wide) || product.guard.present) return;
    const std::uint32_t r = product.operands[0].index;
    if (values_.definition(r) != i || values_.uses(r) == 0) return;
    const auto& readers = values_.readers(r);
    const bool all_sums = std::all_of(readers.begin(), readers.end(), [&](std::uint32_t n) {
      return at(n).opcode == Opcode::add && is_wide_type(at(n).type()) && at(n).suffixes.empty();
    });
    if (!all_sums) return;
    out_[i].folded = true;
    for (const std::uint32_t n : readers) out_[n].is_wide_product = true;
  }

  // Sign-extensions are part of the sums that read them, and of the loads that make a byte or a half-word; so is a mask
  // that keeps what such a load sets.
  void fold_extension(std::uint32_t i) {
    const Instruction& in = at(i);
    if (in.guard.present || in.operands.size() < 2 || in.operands[0].kind != Operand::Kind::reg) return;
    const auto& readers = values_.readers(in.operands[0].index);
    if (in.opcode == Opcode::cvt && in.types.size() == 2 && in.types[0] == Type::s64 && in.types[1] == Type::s32) {
      out_[i].folded = !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](std::uint32_t n) {
        return at(n).opcode == Opcode::add && is_wide_type(at(n).type()) && at(n).suffixes.empty();
      });
      return;
    }
    const std::uint32_t loaded = loaded_bits(in.operands[1], 0);
    if (loaded == 0) return;
    if (in.opcode == Opcode::cvt && in.suffixes.empty() && in.types.size() == 2 && !is_float(in.types[0]))
      out_[i].folded = true;
    if (in.opcode == Opcode::and_ && in.operands[2].kind == Operand::Kind::integer)
      out_[i].folded = out_[i].folded || (in.operands[2].bits & 0xffffffffU) == (1ULL << loaded) - 1;
  }

  // The bits of the byte or half-word that the operand's register was loaded with, possibly extended; 0: of no such.
  [[nodiscard]] std::uint32_t loaded_bits(const Operand& operand, std::uint32_t depth) const {
    if (operand.kind != Operand::Kind::reg || depth > 2) return 0;
    const std::uint32_t d = values_.definition(operand.index);
    if (d == LaneValues::kNone || at(d).guard.present) return 0;
    if (at(d).opcode == Opcode::ld && at(d).vector_width() == 1 && bits(at(d).type()) <= 16)
      return static_cast<std::uint32_t>(bits(at(d).type()));
    return is_renaming(at(d)) ? loaded_bits(at(d).operands[1], depth + 1) : 0;
  }

  // The constant that the operand's register holds, or the operand.
  [[nodiscard]] const Operand& constant_or(const Operand& operand) const {
    if (operand.kind != Operand::Kind::reg) return operand;
    const std::uint32_t d = values_.definition(operand.index);
    if (d == LaneValues::kNone || at(d).opcode != Opcode::mov || at(d).guard.present || at(d).operands.size() != 2 ||
        at(d).operands[1].kind != Operand::Kind::integer)
      return operand;
    return at(d).operands[1];
  }

  // The low and the high half of one product are one wide product.
  void fold_half_products() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> high;  // block, operands
    const auto key = [&](std::uint32_t i) {
      const auto code = [&](const Operand& operand) {
        const Operand& o = constant_or(operand);
        return o.kind == Operand::Kind::reg ? o.index : (o.bits & 0xffffffffU) + (1ULL << 40);
      };
      const std::uint64_t a = code(at(i).operands[1]);
      const std::uint64_t b = code(at(i).operands[2]);
      return std::tuple{flow_.block_of[i], static_cast<std::uint32_t>(std::min(a, b)), std::max(a, b)};
    };
    for (std::uint32_t i = 0; i < out_.size(); ++i)
      if (is_word_product(at(i), Suffix::hi)) high[key(i)] = i;
    for (std::uint32_t i = 0; i < out_.size(); ++i)
      if (is_word_product(at(i), Suffix::lo) && high.contains(key(i))) out_[i].folded = true;
  }

  // Whether a block can become predicated: straight-line code that is entered from `from` only.
  [[nodiscard]] bool can_be_predicated(std::uint32_t b, std::uint32_t from, std::uint32_t limit) const {
    const BasicBlock& block = flow_.blocks[b];
    if (block.predecessors.size() != 1 || block.predecessors[0] != from) return false;
    std::uint32_t count = 0;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const Instruction& in = at(i);
      if (in.opcode == Opcode::bra && !in.guard.present && i + 1 == block.end) continue;
      if (ends_block(in) || is_long(in) || memory_effect(in).fence) return false;
      count += out_[i].folded ? 0 : 1;
    }
    return count <= limit;
  }

  // A branch over a few instructions, or to one of two short alternatives, is replaced by predicates.
  void convert_branch(std::uint32_t b) {
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

  [[nodiscard]] bool uses_global() const {
    return std::any_of(function_.body.begin(), function_.body.end(), [](const Instruction& i) {
      const MemoryEffect effect = memory_effect(i);
      return (effect.reads || effect.writes) && (effect.space == Space::global || effect.space == Space::generic);
    });
  }

  const Function& function_;
  ControlFlow flow_;
  std::vector<AssembledInstruction> out_;
  LaneValues values_;
  std::map<std::uint32_t, bool> absorbed_;  // instructions that took a producer
};

}  // namespace

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

std::vector<AssembledInstruction> assemble(const Function& function) { return Assembler(function).run(); }

}  // namespace wm::ptx
