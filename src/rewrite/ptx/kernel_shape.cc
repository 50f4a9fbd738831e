#include "rewrite/ptx/kernel_shape.h"

#include <algorithm>
#include <set>

#include "rewrite/ptx/block_dependence.h"
#include "rewrite/ptx/uniformity.h"

namespace wm::rewrite {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Module;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;

constexpr std::uint32_t kBarriers = 16;

bool is_barrier(const Instruction& i) { return i.opcode == Opcode::bar || i.opcode == Opcode::barrier; }

// Whether the instruction names threads of a warp in a mask, which execute it together.
bool waits_in_warp(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::bar_warp:
    case Opcode::elect:
    case Opcode::match:
    case Opcode::redux:
      return true;
    case Opcode::shfl:
    case Opcode::vote:
      return i.has(Suffix::sync);
    default:
      return false;
  }
}

std::optional<std::string> objection(const Instruction& i, bool in_kernel) {
  if (auto why = block_dependence(i)) return why;
  if (i.opcode == Opcode::exit && !in_kernel) return "a function that it calls ends threads";
  if (is_barrier(i) && (i.has(Suffix::arrive) || i.operands.size() > (i.has(Suffix::red) ? 3U : 1U))) {
    return "it has barriers for a part of a block";
  }
  const std::size_t id = i.has(Suffix::red) ? 1 : 0;
  if (is_barrier(i) && i.operands[id].kind != Operand::Kind::integer) return "it chooses barriers at run time";
  return std::nullopt;
}

std::optional<std::string> objection(const Module& module, std::uint32_t function) {
  const Function& f = module.functions[function];
  if (f.refusal) return f.refusal->what;
  if (f.declaration && f.name != "vprintf" && f.name != "__assertfail")
    return "it calls '" + f.name + "' of the driver";
  for (const Instruction& i : f.body) {
    if (auto why = objection(i, f.entry)) return why;
  }
  return waiting_loop(module, function);
}

}  // namespace

bool leaves_kernel(const Instruction& i) { return i.opcode == Opcode::ret || i.opcode == Opcode::exit; }

KernelShape::KernelShape(const Module& module, std::uint32_t kernel)
    : module_(module), kernel_(module.functions[kernel]), reached_(reachable_functions(module, kernel)) {}

std::optional<std::string> KernelShape::refusal() const {
  if (auto why = cluster_directive(kernel_)) return why;
  for (const std::uint32_t f : reached_) {
    if (auto why = objection(module_, f)) return why;
  }
  if (!free_barrier()) return "it uses all barriers of a block";
  if (ends_early(is_barrier)) return "some threads of a block may end before a barrier that others reach";
  if (ends_early(waits_in_warp)) return "some threads of a warp may end before others wait for the warp";
  return std::nullopt;
}

std::optional<std::uint32_t> KernelShape::free_barrier() const {
  std::set<std::uint64_t> used;
  for (const std::uint32_t f : reached_) {
    for (const Instruction& i : module_.functions[f].body) {
      if (is_barrier(i)) used.insert(i.operands[i.has(Suffix::red) ? 1 : 0].bits);
    }
  }
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    if (!used.contains(id)) return id;
  }
  return std::nullopt;
}

bool KernelShape::threads_meet() const {
  const auto is_shared = [](const ptx::Variable& v) { return v.space == ptx::Space::shared; };
  if (std::any_of(module_.variables.begin(), module_.variables.end(), is_shared)) return true;
  return std::any_of(reached_.begin(), reached_.end(), [&](std::uint32_t f) {
    const Function& function = module_.functions[f];
    return std::any_of(function.variables.begin(), function.variables.end(), is_shared) ||
           std::any_of(function.body.begin(), function.body.end(), is_barrier);
  });
}

bool KernelShape::has(const Instruction& i, Test test) const {
  if (test(i)) return true;
  if (i.opcode != Opcode::call) return false;
  const auto inside = reachable_functions(module_, i.operands[1].index);
  return std::any_of(inside.begin(), inside.end(), [&](std::uint32_t f) {
    return std::any_of(module_.functions[f].body.begin(), module_.functions[f].body.end(), test);
  });
}

bool KernelShape::ends_early(Test waits) const {
  const auto& body = kernel_.body;
  if (std::none_of(body.begin(), body.end(), [&](const Instruction& i) { return has(i, waits); })) return false;
  const ptx::ControlFlow flow = ptx::control_flow(kernel_);
  const Uniformity uniformity(kernel_, flow);
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    const Instruction& last = body[flow.blocks[b].end - 1];
    if (last.opcode != Opcode::brx_idx && !uniformity.guard_varies(last)) continue;
    const auto blocks = uniformity.divergent_blocks(b);
    const bool ends = leaves_kernel(last) || std::any_of(blocks.begin(), blocks.end(), [&](std::uint32_t d) {
                        return leaves_kernel(body[flow.blocks[d].end - 1]) || flow.blocks[d].end == body.size();
                      });
    if (ends && follows(flow, b, waits)) return true;
    // Compilers make a branch to the end of the kernel from a return at its top.
    const std::uint32_t meeting = flow.post_dominator[b];
    const bool waits_meanwhile = std::any_of(blocks.begin(), blocks.end(), [&](std::uint32_t d) {
      return std::any_of(body.begin() + flow.blocks[d].begin, body.begin() + flow.blocks[d].end,
                         [&](const Instruction& i) { return has(i, waits); });
    });
    if (waits_meanwhile && meeting < flow.blocks.size() && may_end_before(flow, meeting, waits)) return true;
  }
  return false;
}

bool KernelShape::follows(const ptx::ControlFlow& flow, std::uint32_t from, Test test) const {
  bool found = false;
  visit_paths(flow, flow.blocks[from].successors, [&](const Instruction& i) {
    found = found || has(i, test);
    return !found;
  });
  return found;
}

bool KernelShape::may_end_before(const ptx::ControlFlow& flow, std::uint32_t from, Test test) const {
  bool ends = false;
  visit_paths(flow, {from}, [&](const Instruction& i) {
    if (has(i, test)) return false;
    ends = ends || leaves_kernel(i) || &i == &kernel_.body.back();
    return !ends;
  });
  return ends;
}

template <typename GoesOn>
void KernelShape::visit_paths(const ptx::ControlFlow& flow, std::vector<std::uint32_t> open, GoesOn&& goes_on) const {
  std::vector<bool> seen(flow.blocks.size());
  while (!open.empty()) {
    const std::uint32_t b = open.back();
    open.pop_back();
    if (seen[b]) continue;
    seen[b] = true;
    const auto begin = kernel_.body.begin() + flow.blocks[b].begin, end = kernel_.body.begin() + flow.blocks[b].end;
    if (!std::all_of(begin, end, goes_on)) continue;
    open.insert(open.end(), flow.blocks[b].successors.begin(), flow.blocks[b].successors.end());
  }
}

}  // namespace wm::rewrite
