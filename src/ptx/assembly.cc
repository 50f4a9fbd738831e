#include "ptx/assembly.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ptx/analysis.h"
#include "ptx/def_use.h"
#include "ptx/lane_values.h"
#include "ptx/memory_effect.h"

namespace wm::ptx {
namespace {

constexpr std::uint32_t kMaxPredicated = 7;  // instructions behind a branch that become predicated

bool is_word_type(Type type) { return type == Type::s32 || type == Type::u32 || type == Type::b32; }
bool is_wide_type(Type type) { return type == Type::s64 || type == Type::u64 || type == Type::b64; }
bool is_word_sum(const Instruction& i) {
  return (i.opcode == Opcode::add || i.opcode == Opcode::sub) && is_word_type(i.type()) && i.suffixes.empty();
}
bool is_word_logic(const Instruction& i) {
  const bool logic =
      i.opcode == Opcode::and_ || i.opcode == Opcode::or_ || i.opcode == Opcode::xor_ || i.opcode == Opcode::not_;
  return logic && i.type() == Type::b32;
}
bool is_predicate_logic(const Instruction& i) { return i.type() == Type::pred && i.opcode != Opcode::setp; }
bool shifts_by_constant(const Instruction& i, Type type) {
  return i.opcode == Opcode::shl && i.type() == type && i.operands[2].kind == Operand::Kind::integer;
}
bool tests_zero(const Instruction& i) {
  return i.opcode == Opcode::setp && (i.has(Suffix::eq) || i.has(Suffix::ne)) && i.operands.size() == 3 &&
         i.operands[2].kind == Operand::Kind::integer && i.operands[2].bits == 0;
}
bool is_word_product(const Instruction& i, Suffix part) {
  return i.opcode == Opcode::mul && i.has(part) && is_word_type(i.type());
}
// Zero-extensions and truncations are renamings.
bool is_renaming(const Instruction& i) {
  if (i.opcode != Opcode::cvt || i.types.size() != 2 || !i.suffixes.empty()) return false;
  const auto is_unsigned = [](Type t) { return t == Type::u8 || t == Type::u16 || t == Type::u32 || t == Type::u64; };
  return is_unsigned(i.types[0]) && is_unsigned(i.types[1]);
}

bool adds_constant(const Instruction& i) {
  if ((i.opcode != Opcode::atom && i.opcode != Opcode::red) || !i.has(Suffix::add) || !is_word_type(i.type()))
    return false;
  return i.operands.back().kind == Operand::Kind::integer;
}

// Whether the register is the address, and nothing else, of an access to shared memory.
bool addresses_shared(const Instruction& i, std::uint32_t r) {
  const MemoryEffect effect = memory_effect(i);
  if ((!effect.reads && !effect.writes) || effect.space != Space::shared) return false;
  bool address = false;
  bool other = false;
  for (const Operand& o : i.operands) {
    const bool is_address = o.kind == Operand::Kind::address;
    for_each_register(o, [&](std::uint32_t n) { (is_address ? address : other) |= n == r; });
  }
  return address && !other;
}

// Instructions that are too long to be predicated.
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
    for (std::uint32_t i = 0; i < out_.size(); ++i) fold_wide_product(i);
    fold_half_products();
    join_loads();
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) convert_branch(b);
    if (function_.entry) out_[0].added = static_cast<std::uint8_t>(1 + (uses_global() ? 1 : 0));
    return out_;
  }

 private:
  [[nodiscard]] const Instruction& at(std::uint32_t i) const { return function_.body[i]; }

  void fold_by_itself(std::uint32_t i) {
    out_[i].folded = is_predicate_logic(at(i)) || is_renaming(at(i)) || is_free_move(at(i)) ||
                     (!function_.entry && at(i).opcode == Opcode::ld && at(i).space() == Space::param);
    out_[i].is_unused = at(i).opcode == Opcode::atom && at(i).operands[0].kind == Operand::Kind::reg &&
                        values_.uses(at(i).operands[0].index) == 0;
    out_[i].is_increment = adds_constant(at(i));
    out_[i].folded = out_[i].folded || is_uniform_offset(i);
    out_[i].parts_lanes = at(i).opcode == Opcode::bra && at(i).guard.present && values_.differs(at(i).guard.reg);
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
      return o.kind != Operand::Kind::reg || !values_.differs(o.index);
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
    if (then.guard.present || then.operands.size() < 2) return;
    for (std::size_t n = 1; n < then.operands.size(); ++n) {
      const std::uint32_t d = only_producer(i, n);
      if (d == LaneValues::kNone || out_[d].folded || absorbed_.contains(d)) continue;
      const Instruction& first = at(d);
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

  // Loads of neighbouring words of shared memory are one vector load where the address is known to be aligned.
  void join_loads() {
    using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;  // block, part, base, offset
    std::map<Place, std::uint32_t> loads;
    std::uint32_t part = 0;  // stores and barriers begin a new one
    for (std::uint32_t i = 0; i < out_.size(); ++i) {
      const Instruction& load = at(i);
      const MemoryEffect effect = memory_effect(load);
      if (effect.fence || (effect.writes && may_overlap(effect.space, Space::shared))) ++part;
      if (load.opcode != Opcode::ld || effect.fence || effect.space != Space::shared || load.guard.present) continue;
      if (load.vector_width() != 1 || bytes(load.type()) != 4 || load.operands[0].kind != Operand::Kind::reg) continue;
      const Operand& address = load.operands[1];
      if (address.elements.empty() || address.elements[0].kind != Operand::Kind::reg) continue;
      loads.emplace(Place{flow_.block_of[i], part, address.elements[0].index, address.offset}, i);
    }
    for (const auto& [place, i] : loads) {
      const auto& [block, number, base, offset] = place;
      for (const std::int64_t words : {4, 2}) {
        if (out_[i].folded || joined_.contains(i) || offset % (4 * words) != 0) continue;
        if ((1 << values_.low_zeros(base)) < 4 * words) continue;
        std::vector<std::uint32_t> others;
        for (std::int64_t w = 1; w < words; ++w)
          if (const auto next = loads.find({block, number, base, offset + 4 * w}); next != loads.end())
            others.push_back(next->second);
        if (others.size() + 1 != static_cast<std::size_t>(words)) continue;
        joined_[i] = true;
        out_[i].joined_words = static_cast<std::uint8_t>(words);
        for (const std::uint32_t other : others) out_[other].folded = true;
      }
    }
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
  std::map<std::uint32_t, bool> joined_;    // loads that became vectors
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
