#include "rewrite/ptx/counted_loop.h"

#include <algorithm>

#include "ptx/def_use.h"

namespace wm::rewrite {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

constexpr std::int64_t kMaxStep = 1 << 20;

bool is_integer(Type type) {
  return type == Type::s32 || type == Type::u32 || type == Type::s64 || type == Type::u64 || type == Type::b32 ||
         type == Type::b64;
}

bool defines(const Instruction& i, std::uint32_t reg) {
  bool found = false;
  ptx::for_each_definition(i, [&](std::uint32_t r) { found |= r == reg; });
  return found;
}

// `add counter, counter, step`: the step.
std::optional<std::int64_t> step_of(const Instruction& i, std::uint32_t counter) {
  const bool fits = i.opcode == Opcode::add && i.suffixes.empty() && !i.guard.present && is_integer(i.type()) &&
                    i.operands[1].kind == Operand::Kind::reg && i.operands[1].index == counter &&
                    i.operands[2].kind == Operand::Kind::integer;
  if (!fits) return std::nullopt;
  auto step = static_cast<std::int64_t>(i.operands[2].bits);
  if (ptx::bits(i.type()) == 32) step = static_cast<std::int32_t>(step);
  if (step == 0 || step > kMaxStep || step < -kMaxStep) return std::nullopt;
  return step;
}

class Candidate {
 public:
  Candidate(const ptx::Function& function, const Loop& loop) : function_(function), loop_(loop) {}

  [[nodiscard]] std::optional<CountedLoop> find() const {
    if (loop_.blocks.size() != 1 || loop_.back_edges.size() != 1 || loop_.back_edges[0] + 1 != loop_.end) return {};
    const Instruction& branch = function_.body[loop_.end - 1];
    if (!branch.guard.present || branch.guard.negated || uses(branch.guard.reg) != 1) return {};
    const auto compare = only_definition(branch.guard.reg);
    if (!compare || !is_comparison(function_.body[*compare])) return {};
    const Instruction& test = function_.body[*compare];
    const std::uint32_t counter = test.operands[1].index;
    if (test.operands[2].kind == Operand::Kind::reg && definitions(test.operands[2].index) != 0) return {};
    const auto change = only_definition(counter);
    if (!change || *change > *compare) return {};
    const auto step = step_of(function_.body[*change], counter);
    if (!step || !fits_direction(test, *step)) return {};
    return CountedLoop{*compare, counter, *step, ptx::bits(test.type()) == 64};
  }

 private:
  static bool is_comparison(const Instruction& i) {
    return i.opcode == Opcode::setp && !i.guard.present && i.suffixes.size() == 1 && is_integer(i.type()) &&
           i.operands.size() == 3 && i.operands[0].kind == Operand::Kind::reg &&
           i.operands[1].kind == Operand::Kind::reg &&
           (i.operands[2].kind == Operand::Kind::reg || i.operands[2].kind == Operand::Kind::integer);
  }
  static bool fits_direction(const Instruction& test, std::int64_t step) {
    const Suffix how = test.suffixes[0];
    return how == Suffix::ne || (how == Suffix::lt && step > 0) || (how == Suffix::gt && step < 0);
  }
  [[nodiscard]] std::uint32_t definitions(std::uint32_t reg) const {
    std::uint32_t count = 0;
    for (std::uint32_t i = loop_.begin; i < loop_.end; ++i) count += defines(function_.body[i], reg) ? 1 : 0;
    return count;
  }
  [[nodiscard]] std::optional<std::uint32_t> only_definition(std::uint32_t reg) const {
    if (definitions(reg) != 1) return std::nullopt;
    for (std::uint32_t i = loop_.begin; i < loop_.end; ++i) {
      if (defines(function_.body[i], reg)) return i;
    }
    return std::nullopt;
  }
  // Uses in all of the function, so that a predicate which is read later is not changed.
  [[nodiscard]] std::uint32_t uses(std::uint32_t reg) const {
    std::uint32_t count = 0;
    for (const Instruction& i : function_.body) {
      ptx::for_each_use(i, [&](std::uint32_t r) { count += r == reg ? 1 : 0; });
    }
    return count;
  }

  const ptx::Function& function_;
  const Loop& loop_;
};

}  // namespace

std::optional<CountedLoop> counted_loop(const ptx::Function& function, const Loop& loop) {
  return Candidate(function, loop).find();
}

}  // namespace wm::rewrite
