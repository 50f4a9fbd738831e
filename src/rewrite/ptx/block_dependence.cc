#include "rewrite/ptx/block_dependence.h"

#include <algorithm>
#include <set>

#include "ptx/def_use.h"
#include "rewrite/ptx/loops.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;
using ptx::Suffix;
using ptx::Type;

bool reads_special(const Instruction& i, Special first, Special last) {
  const auto has = [&](const auto& self, const Operand& o) -> bool {
    if (o.kind == Operand::Kind::special && o.special >= first && o.special <= last) return true;
    return std::any_of(o.elements.begin(), o.elements.end(), [&](const Operand& e) { return self(self, e); });
  };
  return std::any_of(i.operands.begin(), i.operands.end(), [&](const Operand& o) { return has(has, o); });
}

bool is_constant(const Operand& o) {
  return o.kind == Operand::Kind::integer || o.kind == Operand::Kind::f32 || o.kind == Operand::Kind::f64;
}

// The bits of an operand that is a constant, or a register with one in all of the function.
std::optional<std::uint64_t> constant(const Function& f, const Operand& operand) {
  if (is_constant(operand)) return operand.bits;
  if (operand.kind != Operand::Kind::reg) return std::nullopt;
  const Instruction* last = nullptr;
  int definitions = 0;
  for (const Instruction& i : f.body) {
    ptx::for_each_definition(i, [&](std::uint32_t reg) {
      if (reg != operand.index) return;
      last = &i;
      ++definitions;
    });
  }
  const bool is_set_once = definitions == 1 && last->opcode == Opcode::mov && is_constant(last->operands[1]);
  return is_set_once ? std::optional(last->operands[1].bits) : std::nullopt;
}

// Whether an atomic operation leaves the word as it is, as one that adds 0: it is a way to read what others write.
bool leaves_word(const Function& f, const Instruction& i) {
  const auto amount = constant(f, i.operands.back());
  if (!amount) return false;
  const int bits = ptx::bits(i.type());
  const std::uint64_t all = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t value = *amount & all, least = all ^ (all >> 1), greatest = all >> 1;
  const bool is_signed = ptx::is_signed(i.type());
  const bool is_floating = i.type() == Type::f32 || i.type() == Type::f64 || i.type() == Type::f16;
  if (i.has(Suffix::and_)) return value == all;
  if (i.has(Suffix::min)) return value == (is_signed ? greatest : all);
  if (i.has(Suffix::max)) return value == (is_signed ? least : 0);
  // -0 is added without an effect, too.
  if (i.has(Suffix::add)) return value == 0 || (is_floating && value == least);
  return value == 0 && (i.has(Suffix::or_) || i.has(Suffix::xor_));
}

// A loop with such an instruction may wait for another block.
bool may_wait(const Function& f, const Instruction& i) {
  const bool global = i.space() == ptx::Space::global || i.space() == ptx::Space::generic;
  if (i.opcode == Opcode::ld) {
    return global &&
           (i.has(Suffix::volatile_) || i.has(Suffix::relaxed) || i.has(Suffix::acquire) || i.has(Suffix::cv));
  }
  return i.opcode == Opcode::atom && global && (i.has(Suffix::cas) || i.has(Suffix::exch) || leaves_word(f, i));
}

bool is_direct_call(const Instruction& i) {
  return i.opcode == Opcode::call && i.operands[1].kind == Operand::Kind::function;
}

// Whether the function, or one that it calls, has an instruction with which a loop may wait.
bool may_wait_in(const ptx::Module& module, std::uint32_t function) {
  const auto reached = reachable_functions(module, function);
  return std::any_of(reached.begin(), reached.end(), [&](std::uint32_t index) {
    const Function& f = module.functions[index];
    return std::any_of(f.body.begin(), f.body.end(), [&](const Instruction& i) { return may_wait(f, i); });
  });
}

bool calls_waiting(const ptx::Module& module, const Instruction& i) {
  return is_direct_call(i) && may_wait_in(module, i.operands[1].index);
}

// A load past L1 of the same address in every round: nothing but another block's store changes what it reads.
bool reads_one_address(const Function& f, const Loop& loop, const ptx::ControlFlow& flow, const Instruction& load) {
  const bool past_l1 = load.opcode == Opcode::ld && load.has(Suffix::cg) && load.space() != ptx::Space::shared;
  if (!past_l1) return false;
  bool changes = false;
  for (const std::uint32_t b : loop.blocks) {
    for (std::uint32_t n = flow.blocks[b].begin; n < flow.blocks[b].end; ++n) {
      ptx::for_each_definition(f.body[n], [&](std::uint32_t reg) {
        ptx::for_each_register(load.operands[1], [&](std::uint32_t base) { changes |= reg == base; });
      });
    }
  }
  return !changes;
}

constexpr const char* kUsesClusters = "it uses clusters";

}  // namespace

std::vector<std::uint32_t> reachable_functions(const ptx::Module& module, std::uint32_t kernel) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> open{kernel};
  while (!open.empty()) {
    const std::uint32_t f = open.back();
    open.pop_back();
    if (!seen.insert(f).second) continue;
    for (const Instruction& i : module.functions[f].body) {
      if (is_direct_call(i)) open.push_back(i.operands[1].index);
    }
  }
  return {seen.begin(), seen.end()};
}

std::optional<std::string> block_dependence(const Instruction& i) {
  if (i.opcode == Opcode::barrier_cluster || i.opcode == Opcode::mapa || i.opcode == Opcode::getctarank ||
      reads_special(i, Special::is_explicit_cluster, Special::cluster_nctarank)) {
    return kUsesClusters;
  }
  if (i.opcode == Opcode::griddepcontrol) return "it waits for another grid";
  if (reads_special(i, Special::envreg0, Special::envreg31)) return "it synchronises its grid (%envreg)";
  if (i.opcode == Opcode::call && i.operands[1].kind != Operand::Kind::function) return "it calls through a pointer";
  return std::nullopt;
}

std::optional<std::string> cluster_directive(const Function& kernel) {
  const bool found = std::any_of(kernel.directives.begin(), kernel.directives.end(),
                                 [](const ptx::Directive& d) { return d.name.find("cluster") != std::string::npos; });
  return found ? std::optional<std::string>(kUsesClusters) : std::nullopt;
}

std::optional<std::string> waiting_loop(const ptx::Module& module, std::uint32_t function) {
  constexpr const char* kWaits = "a loop of it may wait for another block";
  const Function& f = module.functions[function];
  if (f.body.empty()) return std::nullopt;
  const ptx::ControlFlow flow = ptx::control_flow(f);
  for (const Loop& loop : find_loops(f, flow)) {
    for (const std::uint32_t b : loop.blocks) {
      const auto begin = f.body.begin() + flow.blocks[b].begin, end = f.body.begin() + flow.blocks[b].end;
      const auto waits = [&](const Instruction& i) {
        return may_wait(f, i) || calls_waiting(module, i) || reads_one_address(f, loop, flow, i);
      };
      if (std::any_of(begin, end, waits)) {
        return kWaits;
      }
    }
  }
  // A function that calls itself repeats what it does as a loop does.
  const bool calls_itself = std::any_of(f.body.begin(), f.body.end(), [&](const Instruction& i) {
    const auto reached =
        is_direct_call(i) ? reachable_functions(module, i.operands[1].index) : std::vector<std::uint32_t>();
    return std::binary_search(reached.begin(), reached.end(), function);
  });
  return calls_itself && may_wait_in(module, function) ? std::optional<std::string>(kWaits) : std::nullopt;
}

}  // namespace wm::rewrite
