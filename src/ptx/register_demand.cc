// Register demand as ptxas would allocate it, from two orders of the same function.
//
//  least   the maximum of words live at once in the order of the text, without values that need no register
//          (value_cost.h);
//  fast    the same when each block is ordered to hide latencies (schedule.h), and the operands of a memory instruction
//          stay allocated for a few instructions more, because of the scoreboards: ptxas spreads over free registers.
//
// Both include the registers that every thread has: a stack pointer, padding of aligned pairs, a temporary.
//
// ptxas takes the fast order while the SM can still hold all its threads, and beyond that approaches `least`.
// The constants below were fitted to the zoo and to kernels of sorting and random-number libraries
// (docs/design/ptx.md has the figures).
#include <algorithm>
#include <map>

#include "ptx/access.h"
#include "ptx/analysis.h"
#include "ptx/register_set.h"
#include "ptx/schedule.h"
#include "ptx/value_cost.h"

namespace wm::ptx {
namespace {

constexpr std::uint32_t kFixedRegisters = 4;         // registers that every thread needs besides its values
constexpr std::uint32_t kMinRegisters = 12;          // ptxas does not reduce registers below this
constexpr std::uint32_t kFullOccupancy = 30;         // up to here an SM of 64 K registers holds its 2048 threads
constexpr std::uint32_t kRegistersAboveLeast = 4;    // used above `least` where that exceeds full occupancy
constexpr std::size_t kOperandLifetime = 8;          // instructions for which a memory operand stays allocated
constexpr std::uint32_t kCallerSavedRegisters = 16;  // registers that any callee may overwrite
constexpr std::uint32_t kMaxThreadRegisters = 255;   // the limit of the encoding; further values are spilled

struct Live {
  std::vector<RegisterSet> in;
  std::vector<RegisterSet> out;
};

Live live_sets(const Function& function, const ControlFlow& flow, const std::vector<Access>& all) {
  const std::size_t size = function.registers.size();
  Live live{std::vector<RegisterSet>(flow.blocks.size(), RegisterSet(size)), {}};
  live.out = live.in;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = flow.blocks.size(); b-- > 0;) {
      for (const std::uint32_t s : flow.blocks[b].successors) live.out[b].merge(live.in[s]);
      RegisterSet now = live.out[b];
      for (std::uint32_t i = flow.blocks[b].end; i-- > flow.blocks[b].begin;) {
        if (!all[i].may_keep)
          for (const std::uint32_t r : all[i].writes) now.erase(r);
        for (const std::uint32_t r : all[i].reads) now.insert(r);
      }
      changed = live.in[b].merge(now) || changed;
    }
  }
  return live;
}

bool touches_memory(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red:
    case Opcode::cp_async:
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::suld_b:
    case Opcode::sust_b:
    case Opcode::sust_p:
    case Opcode::sured_b:
      return true;
    default:
      return false;
  }
}

// Walks one block backwards in a given order and counts the live words.
class Walk {
 public:
  Walk(const Function& function, const std::vector<Access>& all, const ValueCost& cost)
      : function_(function), all_(all), cost_(cost), now_(0) {}

  struct Peak {
    RegisterDemand live;               // the maximum at once
    std::uint32_t with_held = 0;       // words, including operands of memory instructions still allocated
    std::vector<std::uint32_t> after;  // words live after each instruction of the order
  };
  Peak run(RegisterSet live_out, const std::vector<std::uint32_t>& order) {
    now_ = std::move(live_out);
    live_ = {};
    for (const std::uint32_t r : now_.members()) count(r, 1);
    Peak peak{live_, 0, std::vector<std::uint32_t>(order.size())};
    std::vector<std::uint32_t> held(order.size() + kOperandLifetime + 1);
    for (std::size_t n = order.size(); n-- > 0;) {
      const Access& access = all_[order[n]];
      for (const std::uint32_t r : access.writes) begin(r);
      peak.after[n] = live_.registers;
      note(peak.live);
      if (!access.may_keep)
        for (const std::uint32_t r : access.writes) end(r);
      for (const std::uint32_t r : access.reads) {
        if (!now_.contains(r) && touches_memory(function_.body[order[n]])) {
          for (std::size_t k = 1; k <= kOperandLifetime; ++k) held[n + k] += cost_.words(r);
        }
        begin(r);
      }
    }
    note(peak.live);
    peak.with_held = peak.live.registers;
    for (std::size_t n = 0; n < order.size(); ++n) {
      peak.with_held = std::max(peak.with_held, peak.after[n] + held[n]);
    }
    return peak;
  }

 private:
  void count(std::uint32_t r, int sign) {
    live_.registers += static_cast<std::uint32_t>(sign) * cost_.words(r);
    if (function_.registers[r].type == Type::pred) live_.predicates += static_cast<std::uint32_t>(sign);
  }
  void begin(std::uint32_t r) {
    if (now_.contains(r)) return;
    now_.insert(r);
    count(r, 1);
  }
  void end(std::uint32_t r) {
    if (!now_.contains(r)) return;
    now_.erase(r);
    count(r, -1);
  }
  void note(RegisterDemand& max) const {
    max.registers = std::max(max.registers, live_.registers);
    max.predicates = std::max(max.predicates, live_.predicates);
  }

  const Function& function_;
  const std::vector<Access>& all_;
  const ValueCost& cost_;
  RegisterSet now_;
  RegisterDemand live_;
};

struct Call {
  std::uint32_t words = 0;             // live across it
  std::vector<std::uint32_t> callees;  // Module::functions; empty where not known
};

Call call_of(const Function& function, const Instruction& instruction, std::uint32_t words) {
  Call call{words, {}};
  if (instruction.operands[1].kind == Operand::Kind::function) call.callees = {instruction.operands[1].index};
  if (instruction.operands.size() > 3 && instruction.operands[3].kind == Operand::Kind::call_targets) {
    call.callees = function.call_tables[instruction.operands[3].index].functions;
  }
  return call;
}

// One function by itself, and the calls it makes.
struct FunctionDemand {
  RegisterDemand demand;
  std::vector<Call> calls;
};

FunctionDemand function_demand(const Function& function) {
  const ControlFlow flow = control_flow(function);
  const ValueCost cost(function);
  const std::vector<Access> all = accesses(function, cost);
  const Live live = live_sets(function, flow, all);
  Walk walk(function, all, cost);
  FunctionDemand result;
  std::uint32_t least = 0;
  std::uint32_t fast = 0;
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i) order.push_back(i);
    const Walk::Peak text = walk.run(live.out[b], order);
    least = std::max(least, text.live.registers);
    result.demand.predicates = std::max(result.demand.predicates, text.live.predicates);
    fast = std::max(fast, walk.run(live.out[b], latency_order(function, flow.blocks[b], all, cost)).with_held);
    for (std::size_t n = 0; n < order.size(); ++n) {
      const Instruction& instruction = function.body[order[n]];
      if (instruction.opcode == Opcode::call) result.calls.push_back(call_of(function, instruction, text.after[n]));
    }
  }
  const bool idle = std::none_of(function.body.begin(), function.body.end(), touches_memory);
  const std::uint32_t wish = std::min(fast + kFixedRegisters, std::max(kFullOccupancy, least + kRegistersAboveLeast));
  result.demand.registers = std::max(wish, idle ? kFixedRegisters : kMinRegisters);
  return result;
}

}  // namespace

RegisterDemand register_demand(const Module& module, const Function& function) {
  // The function, and those it can reach: a call needs what is live across it and what the callee needs.
  std::vector<FunctionDemand> known{function_demand(function)};
  std::map<std::uint32_t, std::size_t> place;
  for (std::size_t f = 0; f < known.size(); ++f) {
    for (std::size_t c = 0; c < known[f].calls.size(); ++c) {
      for (const std::uint32_t callee : known[f].calls[c].callees) {
        if (module.functions[callee].declaration || !place.emplace(callee, known.size()).second) continue;
        known.push_back(function_demand(module.functions[callee]));
      }
    }
  }
  // The demand of the deepest callees is known first; a recursion stops at the limit, where ptxas would spill.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t f = known.size(); f-- > 0;) {
      for (const Call& call : known[f].calls) {
        std::uint32_t below = kCallerSavedRegisters;
        for (const std::uint32_t callee : call.callees) {
          if (const auto at = place.find(callee); at != place.end()) {
            below = std::max(below, known[at->second].demand.registers);
          }
        }
        const std::uint32_t needed = std::min(call.words + below, kMaxThreadRegisters);
        if (needed <= known[f].demand.registers) continue;
        known[f].demand.registers = needed;
        changed = true;
      }
    }
  }
  RegisterDemand demand = known[0].demand;
  demand.registers = std::min(demand.registers, kMaxThreadRegisters);
  return demand;
}

}  // namespace wm::ptx
