#include "ptx/assembly.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ptx/analysis.h"
#include "ptx/assembled_branches.h"
#include "ptx/def_use.h"
#include "ptx/instruction_shape.h"
#include "ptx/joined_accesses.h"
#include "ptx/lane_values.h"
#include "ptx/memory_effect.h"
#include "ptx/placement.h"
#include "ptx/shared_values.h"
#include "ptx/unroll.h"

namespace wm::ptx {
namespace {

// Instructions that choose the lane of a combined atomic, add up the values, and give every lane its result.
constexpr std::uint8_t kCombined = 5;
constexpr std::uint8_t kCombinedWithResult = 11;

class Assembler {
 public:
  explicit Assembler(const Function& function)
      : function_(function),
        flow_(control_flow(function)),
        live_(liveness(function, flow_)),
        placement_(flow_),
        out_(function.body.size()),
        values_(function),
        shared_(function_, flow_, values_, placement_, out_),
        branches_(function_, flow_, values_, placement_, out_) {}

  std::vector<AssembledInstruction> run() {
    if (function_.body.empty()) return out_;
    branches_.find_splits();
    for (std::uint32_t i = 0; i < out_.size(); ++i) {
      fold_by_itself(i);
      fold_producer(i);
    }
    shared_.price_addresses();
    for (std::uint32_t i = 0; i < out_.size(); ++i) {
      fold_into_sums(i);
      fold_wide_product(i);
      fold_extension(i);
      fold_choice(i);
    }
    fold_half_products();
    join_shared_accesses(function_, flow_, values_, Opcode::ld, out_);
    join_shared_accesses(function_, flow_, values_, Opcode::st, out_);
    branches_.fold();
    shared_.price();
    return out_;
  }

 private:
  [[nodiscard]] const Instruction& at(std::uint32_t i) const { return function_.body[i]; }

  void fold_by_itself(std::uint32_t i) {
    out_[i].folded = is_free_predicate(i) || is_renaming(at(i)) || (is_free_move(at(i)) && !is_kept_copy(i)) ||
                     is_limit_test(at(i)) ||
                     (!function_.entry && at(i).opcode == Opcode::ld && at(i).space() == Space::param);
    out_[i].is_unused = at(i).opcode == Opcode::atom && at(i).operands[0].kind == Operand::Kind::reg &&
                        values_.uses(at(i).operands[0].index) == 0;
    out_[i].is_increment = adds_constant(at(i));
    out_[i].is_one_word = changes_one_word(at(i));
    out_[i].added = static_cast<std::uint8_t>(2 * long_constants(at(i)) + (has_long_factors(i) ? 1 : 0) +
                                              (is_kept_copy(i) && bits(at(i).type()) == 64 ? 1 : 0));
    if (!is_small_test(i)) out_[i].added = static_cast<std::uint8_t>(out_[i].added + half_extensions(at(i)));
    if (needs_mask(i)) mask_half(i);
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

  // Whether it reads a half-word as an unsigned number and the rest of the register has to be cleared.
  [[nodiscard]] bool needs_mask(std::uint32_t i) const {
    if (!needs_high_half(at(i)) || at(i).guard.present || at(i).operands[1].kind != Operand::Kind::reg) return false;
    const std::uint32_t d = values_.definition(at(i).operands[1].index);
    if (d == LaneValues::kNone || !leaves_high_half(at(d))) return false;
    const Operand& from = at(d).operands[1];
    const std::uint32_t before = at(d).opcode == Opcode::cvt && from.kind == Operand::Kind::reg
                                     ? values_.definition(from.index)
                                     : LaneValues::kNone;
    if (before == LaneValues::kNone) return true;
    const Instruction& in = at(before);
    const bool is_constant = in.operands.size() == 3 && in.operands[2].kind == Operand::Kind::integer;
    const bool is_short =
        (in.opcode == Opcode::shr && in.type() != Type::s32 && is_constant && in.operands[2].bits >= 16) ||
        (in.opcode == Opcode::and_ && is_constant && in.operands[2].bits <= 0xffff);
    return !is_short;
  }

  // Whether it compares a half-word that a mask made positive.
  [[nodiscard]] bool is_small_test(std::uint32_t i) const {
    if (at(i).opcode != Opcode::setp || at(i).operands[1].kind != Operand::Kind::reg) return false;
    const std::uint32_t d = values_.definition(at(i).operands[1].index);
    return d != LaneValues::kNone && at(d).opcode == Opcode::and_ && at(d).operands[2].kind == Operand::Kind::integer &&
           at(d).operands[2].bits < 0x8000;
  }

  // A conversion is the mask. Other instructions follow one.
  void mask_half(std::uint32_t i) {
    if (at(i).opcode == Opcode::cvt) {
      out_[i].folded = false;
    } else {
      ++out_[i].added;
    }
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

  // A comparison combines its result with a predicate. Other logic of predicates is an instruction, but for negations
  // and constants.
  [[nodiscard]] bool is_free_predicate(std::uint32_t i) const {
    const Instruction& logic = at(i);
    if (!is_predicate_logic(logic)) return false;
    if (logic.operands.size() != 3) return true;
    for (std::size_t n = 1; n < 3; ++n) {
      if (logic.operands[n].kind != Operand::Kind::reg) return true;
      const std::uint32_t d = values_.definition(logic.operands[n].index);
      if (d == LaneValues::kNone) continue;
      if (at(d).opcode == Opcode::mov) return true;
      if (at(d).opcode == Opcode::setp && values_.uses(logic.operands[n].index) == 1) return true;
    }
    return false;
  }

  // A copy of a value that is read later too, into a register that a loop changes.
  [[nodiscard]] bool is_kept_copy(std::uint32_t i) const {
    const Instruction& copy = at(i);
    if (copy.opcode != Opcode::mov || copy.operands.size() != 2 || copy.guard.present) return false;
    const Operand& from = copy.operands[1];
    if (copy.operands[0].kind != Operand::Kind::reg || from.kind != Operand::Kind::reg) return false;
    const auto& live_out = live_.live_out[flow_.block_of[i]];
    return copy.type() != Type::pred && values_.definition(copy.operands[0].index) == LaneValues::kNone &&
           std::binary_search(live_out.begin(), live_out.end(), from.index);
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

  // A shifted value and one that a mask keeps below it: their union is a sum.
  [[nodiscard]] bool is_disjoint_sum(const Instruction& union_, std::size_t n, const Instruction& shift) const {
    if (union_.opcode != Opcode::or_ || union_.type() != Type::b32 || !shifts_by_constant(shift, Type::b32))
      return false;
    const Operand& other = union_.operands[3 - n];
    const std::uint32_t d = other.kind == Operand::Kind::reg ? values_.definition(other.index) : LaneValues::kNone;
    return d != LaneValues::kNone && at(d).opcode == Opcode::and_ && at(d).operands[2].kind == Operand::Kind::integer &&
           at(d).operands[2].bits >> shift.operands[2].bits == 0;
  }

  // The different inputs of an instruction of logic, with those of what it has taken.
  [[nodiscard]] std::set<std::uint64_t> inputs(std::uint32_t i) const {
    if (const auto found = inputs_.find(i); found != inputs_.end()) return found->second;
    std::set<std::uint64_t> result;
    for (std::size_t n = 1; n < at(i).operands.size(); ++n) result.insert(code(at(i).operands[n]));
    return result;
  }
  [[nodiscard]] std::set<std::uint64_t> joined_inputs(std::uint32_t i, std::uint32_t d) const {
    std::set<std::uint64_t> result = inputs(i);
    result.erase(code(at(d).operands[0]));
    result.merge(inputs(d));
    return result;
  }
  [[nodiscard]] bool takes_logic(std::uint32_t i, std::uint32_t d) const { return joined_inputs(i, d).size() <= 3; }
  // Registers, and constants apart from them.
  [[nodiscard]] std::uint64_t code(const Operand& operand) const {
    const Operand& o = constant_or(operand);
    return o.kind == Operand::Kind::reg ? o.index : (o.bits & 0xffffffffU) + (1ULL << 40);
  }

  // Sums and logic of three operands, a shift with a sum, and a mask with its test are one instruction each: the first
  // of two is folded.
  void fold_producer(std::uint32_t i) {
    const Instruction& then = at(i);
    if (then.guard.present || then.operands.size() < 2 || out_[i].folded) return;
    for (std::size_t n = 1; n < then.operands.size(); ++n) {
      const std::uint32_t d = only_producer(i, n);
      if (d == LaneValues::kNone || out_[d].folded) continue;
      const Instruction& first = at(d);
      // Logic of three operands sets a predicate at no cost.
      const bool is_mask_test = tests_zero(then) && first.opcode == Opcode::and_ && is_logic(first);
      const bool is_tree = is_logic(then) && is_logic(first) && takes_logic(i, d);
      if (absorbed_.contains(d) && !is_mask_test && !is_tree) continue;
      // A product of 64 bits takes a sum of a register with it.
      if (then.opcode == Opcode::add && is_wide_type(then.type()) && then.suffixes.empty() &&
          first.opcode == Opcode::mul && first.has(Suffix::lo) && then.operands[3 - n].kind == Operand::Kind::reg) {
        out_[i].folded = true;
        return;
      }
      const bool pair =
          (is_word_sum(then) && (is_word_sum(first) || shifts_by_constant(first, Type::b32))) ||
          (then.opcode == Opcode::add && is_word_sum(then) && takes_high_part(first)) ||
          is_disjoint_sum(then, n, first) || is_tree || is_mask_test || (is_word_extreme(then) && is_word_sum(first)) ||
          (then.opcode == Opcode::add && is_wide_type(then.type()) && shifts_by_constant(first, Type::b64));
      if (!pair) continue;
      out_[d].folded = true;
      absorbed_[i] = true;
      if (is_tree) inputs_[i] = joined_inputs(i, d);
      if (!is_tree) return;
      n = 0;  // another operand may fit now
    }
  }

  // A shift that only sums read is part of each of them. A product that only additions read is computed again with
  // each, by one multiply-add.
  void fold_into_sums(std::uint32_t i) {
    const bool is_shift = shifts_by_constant(at(i), Type::b32);
    if (out_[i].folded || at(i).guard.present || (!is_shift && !is_word_product(at(i), Suffix::lo))) return;
    const std::uint32_t r = at(i).operands[0].index;
    const auto& readers = values_.readers(r);
    if (values_.definition(r) != i || readers.empty()) return;
    const bool all_sums = std::all_of(readers.begin(), readers.end(), [&](std::uint32_t n) {
      return is_word_sum(at(n)) && (is_shift || at(n).opcode == Opcode::add) && !at(n).guard.present &&
             !out_[n].folded && !absorbed_.contains(n);
    });
    if (!all_sums) return;
    out_[i].folded = true;
    for (const std::uint32_t n : readers) absorbed_[n] = true;
  }

  // A choice between a register's old value and one that was just computed for it: that instruction gets a predicate.
  void fold_choice(std::uint32_t i) {
    const Instruction& choice = at(i);
    if (choice.opcode != Opcode::selp || !is_word_type(choice.type()) || choice.guard.present) return;
    for (const std::size_t n : {std::size_t{1}, std::size_t{2}}) {
      const Operand& old = choice.operands[3 - n];
      if (old.kind != Operand::Kind::reg || old.index != choice.operands[0].index) continue;
      const std::uint32_t d = only_producer(i, n);
      if (d != LaneValues::kNone && !out_[d].folded && is_word_sum(at(d))) out_[i].folded = true;
    }
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
      const std::uint64_t a = code(at(i).operands[1]);
      const std::uint64_t b = code(at(i).operands[2]);
      return std::tuple{flow_.block_of[i], static_cast<std::uint32_t>(std::min(a, b)), std::max(a, b)};
    };
    for (std::uint32_t i = 0; i < out_.size(); ++i)
      if (is_word_product(at(i), Suffix::hi)) high[key(i)] = i;
    for (std::uint32_t i = 0; i < out_.size(); ++i)
      if (is_word_product(at(i), Suffix::lo) && high.contains(key(i))) out_[i].folded = true;
  }

  const Function& function_;
  ControlFlow flow_;
  Liveness live_;
  Placement placement_;
  std::vector<AssembledInstruction> out_;
  LaneValues values_;
  SharedValues shared_;
  AssembledBranches branches_;
  std::map<std::uint32_t, std::set<std::uint64_t>> inputs_;  // inputs of logic that took a producer
  std::map<std::uint32_t, bool> absorbed_;                   // instructions that took a producer
};

}  // namespace

std::vector<AssembledInstruction> assemble(const Function& function) { return Assembler(function).run(); }

}  // namespace wm::ptx
