#include "rewrite/ptx/block_dependence.h"

#include <algorithm>
#include <set>

#include "rewrite/ptx/loops.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;
using ptx::Suffix;

bool reads_special(const Instruction& i, Special first, Special last) {
  const auto has = [&](const auto& self, const Operand& o) -> bool {
    if (o.kind == Operand::Kind::special && o.special >= first && o.special <= last) return true;
    return std::any_of(o.elements.begin(), o.elements.end(), [&](const Operand& e) { return self(self, e); });
  };
  return std::any_of(i.operands.begin(), i.operands.end(), [&](const Operand& o) { return has(has, o); });
}

// Whether an atomic operation leaves the word as it is, as one that adds 0: it is a way to read what others write.
bool leaves_word(const Instruction& i) {
  const Operand& amount = i.operands.back();
  if (amount.kind != Operand::Kind::integer) return false;
  if (i.has(Suffix::and_)) return static_cast<std::uint32_t>(amount.bits) == ~std::uint32_t{0};
  return amount.bits == 0 && (i.has(Suffix::add) || i.has(Suffix::or_) || i.has(Suffix::xor_) || i.has(Suffix::max));
}

// A loop with such an instruction may wait for another block.
bool may_wait(const Instruction& i) {
  const bool global = i.space() == ptx::Space::global || i.space() == ptx::Space::generic;
  if (i.opcode == Opcode::ld) {
    return global &&
           (i.has(Suffix::volatile_) || i.has(Suffix::relaxed) || i.has(Suffix::acquire) || i.has(Suffix::cv));
  }
  return i.opcode == Opcode::atom && global && (i.has(Suffix::cas) || i.has(Suffix::exch) || leaves_word(i));
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
      if (i.opcode == Opcode::call && i.operands[1].kind == Operand::Kind::function)
        open.push_back(i.operands[1].index);
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

std::optional<std::string> waiting_loop(const Function& f) {
  if (f.body.empty()) return std::nullopt;
  const ptx::ControlFlow flow = ptx::control_flow(f);
  for (const Loop& loop : find_loops(f, flow)) {
    for (const std::uint32_t b : loop.blocks) {
      const auto begin = f.body.begin() + flow.blocks[b].begin, end = f.body.begin() + flow.blocks[b].end;
      if (std::any_of(begin, end, may_wait)) return "a loop of it may wait for another block";
    }
  }
  return std::nullopt;
}

}  // namespace wm::rewrite
