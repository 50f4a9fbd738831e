#include "ptx/unroll.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ptx/build.h"
#include "ptx/counted_loop.h"
#include "ptx/def_use.h"
#include "ptx/unroll_cost.h"

namespace wm::ptx {
namespace {

constexpr std::int64_t kFactor = 4;

Operand register_operand(std::uint32_t index) { return build::operand({index}); }
Operand integer_operand(std::int64_t value) { return build::number(static_cast<std::uint64_t>(value)); }

Instruction new_instruction(Opcode opcode, std::vector<Suffix> suffixes, Type type, std::vector<Operand> operands) {
  return build::make(opcode, std::move(suffixes), {type}, std::move(operands));
}

Instruction new_branch(std::uint32_t guard, bool negated, std::uint32_t to) {
  return build::only_if({guard}, !negated, build::branch(to));
}

bool is_64_bits(Type type) { return type == Type::s64 || type == Type::u64; }
bool has_sign(Type type) { return type == Type::s32 || type == Type::s64; }

std::int64_t lowest(Type type) {
  if (!has_sign(type)) return 0;
  return is_64_bits(type) ? INT64_MIN : INT32_MIN;
}
std::int64_t highest(Type type) {
  if (type == Type::u64) return -1;  // all bits
  if (type == Type::u32) return UINT32_MAX;
  return is_64_bits(type) ? INT64_MAX : INT32_MAX;
}

// New registers and labels of the function that is written.
class NewNames {
 public:
  explicit NewNames(Function& function) : function_(function) {
    for (const Register& r : function.registers) registers_.insert(r.name);
    for (const Label& l : function.labels) labels_.insert(l.name);
  }
  std::uint32_t add_register(Type type, const char* stem = "%unrolled") {
    function_.registers.push_back({unique(registers_, stem), type});
    return static_cast<std::uint32_t>(function_.registers.size() - 1);
  }
  std::uint32_t add_label(std::uint32_t at) {
    function_.labels.push_back({unique(labels_, "$unrolled"), at});
    return static_cast<std::uint32_t>(function_.labels.size() - 1);
  }

 private:
  std::string unique(std::set<std::string>& used, const char* stem) {
    std::string name;
    do name = fmt::format("{}{}", stem, ++count_);
    while (!used.insert(name).second);
    return name;
  }

  Function& function_;
  std::set<std::string> registers_, labels_;
  std::uint32_t count_ = 0;
};

// The registers that are live before a loop's first instruction and behind its last one, in order.
struct LoopLiveness {
  const std::vector<std::uint32_t>& in;
  const std::vector<std::uint32_t>& out;
};

// Several turns of a loop in one block. Values that a turn makes for itself get registers of their own, so that the
// turns can overlap; steps of inductions are added once, at the end.
class Turns {
 public:
  Turns(std::int64_t number, const Function& function, const CountedLoop& loop, LoopLiveness live, NewNames& names,
        std::vector<Instruction>& out)
      : number_(number), function_(function), loop_(loop), live_out_(live.out), names_(names), out_(out) {
    for (std::uint32_t i = loop.begin; i < loop.end; ++i) {
      const bool guarded = function.body[i].guard.present;
      for_each_definition(function.body[i], [&](std::uint32_t r) {
        const bool carried = std::binary_search(live.in.begin(), live.in.end(), r);
        (guarded || carried ? kept_ : own_).insert(r);
      });
    }
    for (const std::uint32_t r : kept_) own_.erase(r);
    for (std::uint32_t i = loop.begin; i < loop.end; ++i)
      if (const auto step = step_of_address(i)) address_steps_[function.body[i].operands[0].index] = *step;
  }

  void write() {
    for (turn_ = 0; turn_ < number_; ++turn_) {
      renamed_.clear();
      for (std::uint32_t i = loop_.begin; i + 1 < loop_.end; ++i)
        if (i != loop_.compare && !is_step(i) && (turn_ == 0 || !is_address(i))) write_instruction(i);
    }
    for (const auto& [r, induction] : loop_.inductions) {
      const Type type = function_.body[induction.at].type();
      out_.push_back(
          new_instruction(Opcode::add, {}, type,
                          {register_operand(r), register_operand(r), integer_operand(number_ * induction.step)}));
    }
  }

 private:
  [[nodiscard]] bool is_step(std::uint32_t i) const {
    return std::any_of(loop_.inductions.begin(), loop_.inductions.end(),
                       [&](const auto& induction) { return induction.second.at == i; });
  }

  // Whether it computes an address that the first turn's becomes by an offset.
  [[nodiscard]] bool is_address(std::uint32_t i) const {
    const Instruction& in = function_.body[i];
    return has_destination(in) && in.operands[0].kind == Operand::Kind::reg &&
           address_steps_.contains(in.operands[0].index);
  }

  // The step of a sum of an induction and a value that the loop keeps, if only addresses of the loop, behind it, read
  // the sum.
  [[nodiscard]] std::optional<std::int64_t> step_of_address(std::uint32_t i) const {
    const Instruction& sum = function_.body[i];
    if (sum.opcode != Opcode::add || sum.guard.present || !is_64_bits(sum.type()) || !sum.suffixes.empty() ||
        is_step(i))
      return std::nullopt;
    const auto is_induction = [&](const Operand& o) {
      return o.kind == Operand::Kind::reg && !o.negated && loop_.inductions.contains(o.index);
    };
    const auto is_kept = [&](const Operand& o) {
      return o.kind == Operand::Kind::reg && !o.negated && !own_.contains(o.index) && !kept_.contains(o.index);
    };
    const std::size_t n = is_induction(sum.operands[1]) ? 1 : 2;
    if (!is_induction(sum.operands[n]) || !is_kept(sum.operands[3 - n])) return std::nullopt;
    const Induction& induction = loop_.inductions.at(sum.operands[n].index);
    const std::uint32_t r = sum.operands[0].index;
    if (!own_.contains(r) || std::binary_search(live_out_.begin(), live_out_.end(), r)) return std::nullopt;
    for (std::uint32_t at = loop_.begin; at < loop_.end; ++at) {
      bool writes = false, reads = false;
      for_each_definition(function_.body[at], [&](std::uint32_t d) { writes = writes || d == r; });
      for_each_use(function_.body[at], [&](std::uint32_t u) { reads = reads || u == r; });
      if ((writes && at != i) || (reads && (at < i || !is_only_address(function_.body[at], r)))) return std::nullopt;
    }
    return induction.step;
  }

  // Whether the instruction reads the register as the address of a memory access and for nothing else.
  [[nodiscard]] static bool is_only_address(const Instruction& in, std::uint32_t r) {
    if (in.guard.present && in.guard.reg == r) return false;
    for (const Operand& o : in.operands) {
      const bool is_base = o.kind == Operand::Kind::address && o.elements[0].kind == Operand::Kind::reg;
      bool reads = false;
      for_each_register(o, [&](std::uint32_t n) { reads = reads || n == r; });
      if (reads && !is_base) return false;
    }
    return true;
  }

  void write_instruction(std::uint32_t i) {
    Instruction copy = function_.body[i];
    const std::size_t sources = has_destination(copy) ? 1 : 0;
    for (std::size_t o = sources; o < copy.operands.size(); ++o) replace_uses(copy.operands[o], i);
    if (copy.guard.present) copy.guard.reg = name_of(copy.guard.reg);
    if (sources != 0) rename(copy.operands[0]);
    out_.push_back(std::move(copy));
  }

  // A register with the first turn's address.
  std::uint32_t address_of_first_turn(std::uint32_t r) {
    const auto [found, added] = addresses_.try_emplace(r, 0);
    if (added) found->second = names_.add_register(function_.registers[r].type);
    return found->second;
  }

  // The last turn keeps registers that instructions behind the loop read. All others have one definition, so that the
  // assembler can fold them.
  std::uint32_t name_of(std::uint32_t r) {
    if (!own_.contains(r)) return r;
    if (address_steps_.contains(r)) return address_of_first_turn(r);
    if (turn_ == number_ - 1 && std::binary_search(live_out_.begin(), live_out_.end(), r)) return r;
    const auto [found, added] = renamed_.try_emplace(r, 0);
    if (added) found->second = names_.add_register(function_.registers[r].type);
    return found->second;
  }

  void rename(Operand& operand) {
    if (operand.kind == Operand::Kind::reg) operand.index = name_of(operand.index);
    for (Operand& element : operand.elements) rename(element);
  }

  // The turns since the start of the block after which an induction has the value that instruction `i` reads.
  [[nodiscard]] std::int64_t turns_before(const Induction& induction, std::uint32_t i) const {
    return turn_ + (i > induction.at ? 1 : 0);
  }

  void replace_uses(Operand& operand, std::uint32_t i) {
    if (operand.kind == Operand::Kind::address && operand.elements[0].kind == Operand::Kind::reg) {
      const auto found = loop_.inductions.find(operand.elements[0].index);
      if (found != loop_.inductions.end() && is_64_bits(function_.body[found->second.at].type())) {
        operand.offset += turns_before(found->second, i) * found->second.step;
        return;
      }
      const auto address = address_steps_.find(operand.elements[0].index);
      if (address != address_steps_.end()) operand.offset += turn_ * address->second;
    }
    if (operand.kind == Operand::Kind::reg) {
      const auto found = loop_.inductions.find(operand.index);
      operand.index = found == loop_.inductions.end()
                          ? name_of(operand.index)
                          : value_of(operand.index, found->second, turns_before(found->second, i));
    }
    for (Operand& element : operand.elements) replace_uses(element, i);
  }

  // A register with the induction's value after so many turns.
  std::uint32_t value_of(std::uint32_t r, const Induction& induction, std::int64_t turns) {
    if (turns == 0) return r;
    const auto [found, added] = values_.try_emplace({r, turns}, 0);
    if (added) {
      found->second = names_.add_register(function_.registers[r].type);
      out_.push_back(new_instruction(
          Opcode::add, {}, function_.body[induction.at].type(),
          {register_operand(found->second), register_operand(r), integer_operand(turns * induction.step)}));
    }
    return found->second;
  }

  std::int64_t number_;
  const Function& function_;
  const CountedLoop& loop_;
  const std::vector<std::uint32_t>& live_out_;
  NewNames& names_;
  std::vector<Instruction>& out_;
  std::set<std::uint32_t> own_, kept_;                   // registers that the loop writes
  std::map<std::uint32_t, std::int64_t> address_steps_;  // by register that is_address
  std::map<std::uint32_t, std::uint32_t> addresses_;     // their registers in the first turn
  std::map<std::uint32_t, std::uint32_t> renamed_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> values_;
  std::int64_t turn_ = 0;
};

// Copies a function with some of its loops unrolled.
class Unroller {
 public:
  explicit Unroller(const Function& function)
      : function_(function), result_(function), names_(result_), places_(function.body.size() + 1) {}

  Function run() {
    const ControlFlow flow = control_flow(function_);
    const Liveness live = liveness(function_, flow);
    result_.body.clear();
    for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
      const BasicBlock& block = flow.blocks[b];
      if (const auto loop = counted_loop(function_, block); loop && is_unrolled(*loop)) {
        write_loop(*loop, {live.live_in[b], live.live_out[b]});
        continue;
      }
      for (std::uint32_t i = block.begin; i < block.end; ++i) copy(i);
    }
    places_.back() = static_cast<std::uint32_t>(result_.body.size());
    for (std::size_t l = 0; l < function_.labels.size(); ++l) result_.labels[l].at = places_[function_.labels[l].at];
    for (Pragma& pragma : result_.pragmas) pragma.at = places_[pragma.at];
    return std::move(result_);
  }

 private:
  void copy(std::uint32_t i) {
    places_[i] = at();
    result_.body.push_back(function_.body[i]);
  }

  [[nodiscard]] std::uint32_t at() const { return static_cast<std::uint32_t>(result_.body.size()); }

  [[nodiscard]] bool is_unrolled(const CountedLoop& loop) const {
    for (const Pragma& p : function_.pragmas)
      if (p.at == loop.begin && p.text == "nounroll") return false;
    return is_short_enough_to_unroll(function_, loop);
  }

  // The last counter value at which so many turns follow, and beyond it: the limit less the steps between them. If that
  // wraps around, a value beyond which no counter lies.
  Operand write_last(std::int64_t number, const CountedLoop& loop, Type type, bool up) {
    const Instruction& compare = function_.body[loop.compare];
    const Operand& limit = compare.operands[2];
    // A counter that may reach its limit has a turn more: one step of 1 less between them.
    const bool is_inclusive = compare.suffixes[0] == Suffix::le || compare.suffixes[0] == Suffix::ge;
    const std::int64_t distance =
        (number - 1) * loop.inductions.at(loop.counter).step - (is_inclusive ? (up ? 1 : -1) : 0);
    const Suffix without_wrap = is_inclusive ? (up ? Suffix::le : Suffix::ge) : (up ? Suffix::lt : Suffix::gt);
    const std::uint32_t moved = names_.add_register(type);
    const std::uint32_t last = names_.add_register(type, kLimitRegister);
    const std::uint32_t fits = names_.add_register(Type::pred, kLimitRegister);
    emit(new_instruction(Opcode::sub, {}, type, {register_operand(moved), limit, integer_operand(distance)}));
    emit(new_instruction(Opcode::setp, {without_wrap}, type, {register_operand(fits), register_operand(moved), limit}));
    emit(new_instruction(Opcode::selp, {}, type,
                         {register_operand(last), register_operand(moved),
                          integer_operand(up ? lowest(type) : highest(type)), register_operand(fits)}));
    return register_operand(last);
  }

  // As long as four turns follow they are executed at a time, then two if two follow, then one after the other.
  void write_loop(const CountedLoop& loop, LoopLiveness live) {
    const Instruction& compare = function_.body[loop.compare];
    const Type type = compare.type();
    const Operand counter = register_operand(loop.counter), condition = compare.operands[0];
    const std::uint32_t skipped = names_.add_register(Type::pred);
    const std::uint32_t again = names_.add_label(0), behind = names_.add_label(0);
    places_[loop.begin] = at();
    emit(new_instruction(Opcode::setp, {Suffix::eq}, type, {register_operand(skipped), counter, counter}));
    write_turns(kFactor, loop, live, skipped);
    write_turns(kFactor / 2, loop, live, skipped);
    // A thread that skipped the turns executes at least one more; others as long as the condition holds.
    emit(new_instruction(Opcode::setp, {compare.suffixes[0], Suffix::or_}, type,
                         {condition, counter, compare.operands[2], register_operand(skipped)}));
    emit(new_branch(condition.index, true, behind));
    result_.labels[again].at = at();
    for (std::uint32_t i = loop.begin; i < loop.end; ++i) {
      if (i != loop.begin) places_[i] = at();
      emit(function_.body[i]);
    }
    result_.body.back().operands[0] = build::label(again);
    result_.labels[behind].at = at();
  }

  // So many turns in one block, as long as so many follow; `skipped` is false afterwards if any were executed.
  void write_turns(std::int64_t number, const CountedLoop& loop, LoopLiveness live, std::uint32_t skipped) {
    const Type type = function_.body[loop.compare].type();
    const bool up = loop.inductions.at(loop.counter).step > 0;
    const Suffix beyond = up ? Suffix::lt : Suffix::gt;
    const std::uint32_t enough = names_.add_register(Type::pred);
    const std::uint32_t turns = names_.add_label(0), rest = names_.add_label(0);
    const Operand last = write_last(number, loop, type, up);
    const Operand counter = register_operand(loop.counter);
    emit(new_instruction(Opcode::setp, {beyond}, type, {register_operand(enough), counter, last}));
    emit(new_branch(enough, true, rest));
    emit(new_instruction(Opcode::setp, {Suffix::ne}, type, {register_operand(skipped), counter, counter}));
    result_.labels[turns].at = at();
    Turns(number, function_, loop, live, names_, result_.body).write();
    if (number == kFactor) {  // fewer do not follow twice
      emit(new_instruction(Opcode::setp, {beyond}, type, {register_operand(enough), counter, last}));
      emit(new_branch(enough, false, turns));
    }
    result_.labels[rest].at = at();
  }

  void emit(Instruction i) { result_.body.push_back(std::move(i)); }

  const Function& function_;
  Function result_;
  NewNames names_;
  std::vector<std::uint32_t> places_;  // by instruction of the original; the last: its end
};

}  // namespace

Function unrolled(const Function& function) {
  if (function.body.empty() || function.refusal) return function;
  return Unroller(function).run();
}

}  // namespace wm::ptx
