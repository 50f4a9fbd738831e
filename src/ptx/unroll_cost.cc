#include "ptx/unroll_cost.h"

#include <algorithm>
#include <map>
#include <set>

#include "ptx/def_use.h"
#include "ptx/instruction_shape.h"
#include "ptx/memory_effect.h"

namespace wm::ptx {
namespace {

constexpr std::uint32_t kMaxWithGlobalLoad = 46;
constexpr std::uint32_t kMaxOfAny = 18;
constexpr std::uint32_t kPerSharedLoad = 5;
constexpr std::uint32_t kMaxWithSharedLoads = 96;
constexpr std::uint32_t kAtomic = 10;

bool loads_from(const Instruction& i, Space space) {
  return (i.opcode == Opcode::ld && i.space() == space) || (i.opcode == Opcode::ldmatrix && space == Space::shared);
}

// Instructions of a special function or a division. Without .ftz small values are scaled before and after.
std::uint32_t arithmetic_cost(const Instruction& i) {
  const bool is_plain = i.has(Suffix::ftz) || i.types.empty() || i.type() != Type::f32;
  switch (i.opcode) {
    case Opcode::ex2:
    case Opcode::lg2:
    case Opcode::sqrt:
    case Opcode::rsqrt:
      return is_plain ? 1 : 6;
    case Opcode::rcp:
      return is_plain ? 1 : 7;
    case Opcode::div:
    case Opcode::rem:
      if (i.has(Suffix::full)) return 12;
      if (i.has(Suffix::approx)) return 7;
      return i.type() == Type::s32 ? 27 : 19;
    default:
      return 1;
  }
}

bool is_free(const Instruction& i) {
  const bool is_sign = (i.opcode == Opcode::neg || i.opcode == Opcode::abs) && is_float(i.type());
  return i.opcode == Opcode::mov || i.opcode == Opcode::cvta || is_sign || is_renaming(i);
}

std::uint32_t cost(const Instruction& i) {
  if (is_free(i)) return 0;
  std::uint32_t sum = i.opcode == Opcode::atom ? kAtomic : arithmetic_cost(i);
  for (const Operand& o : i.operands) sum += o.kind == Operand::Kind::address && o.offset != 0 ? 1 : 0;
  return sum + (i.guard.present ? 1 : 0);
}

// Instructions that compute the same in every turn, which ptxas moves before the loop.
class Invariants {
 public:
  Invariants(const Function& function, const CountedLoop& loop) {
    for (std::uint32_t at = loop.begin; at < loop.end; ++at)
      for_each_definition(function.body[at], [&](std::uint32_t r) { ++definitions_[r]; });
  }

  // Asked for the instructions in their order.
  bool contain(const Instruction& i) {
    const MemoryEffect effect = memory_effect(i);
    bool varies = effect.reads || effect.writes || effect.fence || i.guard.present || !has_destination(i);
    for_each_use(i, [&](std::uint32_t r) { varies = varies || (definitions_.contains(r) && !same_.contains(r)); });
    for_each_definition(i, [&](std::uint32_t r) { varies = varies || definitions_.at(r) != 1; });
    if (!varies) for_each_definition(i, [&](std::uint32_t r) { same_.insert(r); });
    return !varies;
  }

 private:
  std::map<std::uint32_t, std::uint32_t> definitions_;  // their number in the loop, by register
  std::set<std::uint32_t> same_;
};

}  // namespace

bool is_short_enough_to_unroll(const Function& function, const CountedLoop& loop) {
  std::uint32_t sum = 0;
  std::uint32_t shared_loads = 0;
  bool loads_global = false;
  Invariants invariants(function, loop);
  const std::uint32_t step = loop.inductions.at(loop.counter).at;
  for (std::uint32_t at = loop.begin; at + 1 < loop.end; ++at) {
    const Instruction& i = function.body[at];
    if (calls_subroutine(i)) return false;
    if (at == loop.compare || at == step || invariants.contain(i)) continue;
    sum += cost(i);
    shared_loads += loads_from(i, Space::shared) ? 1 : 0;
    loads_global = loads_global || loads_from(i, Space::global);
  }
  if (loads_global && sum <= kMaxWithGlobalLoad) return true;
  return sum <= std::min(kMaxWithSharedLoads, kMaxOfAny + kPerSharedLoad * shared_loads);
}

}  // namespace wm::ptx
