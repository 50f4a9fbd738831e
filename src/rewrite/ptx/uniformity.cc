#include "rewrite/ptx/uniformity.h"

#include <algorithm>

#include "ptx/def_use.h"

namespace wm::rewrite {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Special;

// Special registers that all threads of a block read alike.
bool is_uniform(Special special) {
  switch (special) {
    case Special::ntid_x:
    case Special::ntid_y:
    case Special::ntid_z:
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
    case Special::nctaid_x:
    case Special::nctaid_y:
    case Special::nctaid_z:
    case Special::nwarpid:
    case Special::nsmid:
    case Special::gridid:
    case Special::total_smem_size:
    case Special::dynamic_smem_size:
      return true;
    default:
      return false;
  }
}

bool has_varying_special(const Operand& operand) {
  if (operand.kind == Operand::Kind::special && !is_uniform(operand.special)) return true;
  return std::any_of(operand.elements.begin(), operand.elements.end(), has_varying_special);
}

// Instructions whose result depends only on their operands.
bool is_plain(const Instruction& i) {
  if (i.opcode == Opcode::ld) return i.space() == ptx::Space::param || i.space() == ptx::Space::constant;
  return i.opcode <= Opcode::isspacep;
}

}  // namespace

Uniformity::Uniformity(const ptx::Function& function, const ptx::ControlFlow& flow)
    : function_(function), flow_(flow), varies_(function.registers.size()), divergent_(flow.blocks.size()) {
  while (pass()) {
  }
}

std::vector<std::uint32_t> Uniformity::divergent_blocks(std::uint32_t branching_block) const {
  const std::uint32_t meeting = flow_.post_dominator[branching_block];
  std::vector<bool> seen(flow_.blocks.size());
  std::vector<std::uint32_t> open(flow_.blocks[branching_block].successors), found;
  while (!open.empty()) {
    const std::uint32_t b = open.back();
    open.pop_back();
    if (b == meeting || seen[b]) continue;
    seen[b] = true;
    found.push_back(b);
    open.insert(open.end(), flow_.blocks[b].successors.begin(), flow_.blocks[b].successors.end());
  }
  return found;
}

bool Uniformity::result_varies(const Instruction& i) const {
  if (!is_plain(i) || guard_varies(i)) return true;
  bool varies = false;
  ptx::for_each_use(i, [&](std::uint32_t r) { varies |= varies_[r]; });
  return varies || std::any_of(i.operands.begin(), i.operands.end(), has_varying_special);
}

bool Uniformity::pass() {
  bool changed = false;
  for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
    for (std::uint32_t n = flow_.blocks[b].begin; n < flow_.blocks[b].end; ++n) {
      const Instruction& i = function_.body[n];
      if (!ptx::has_destination(i) || !(divergent_[b] || result_varies(i))) continue;
      ptx::for_each_definition(i, [&](std::uint32_t r) {
        changed |= !varies_[r];
        varies_[r] = true;
      });
    }
    const Instruction& last = function_.body[flow_.blocks[b].end - 1];
    bool splits = last.opcode == Opcode::brx_idx || (last.opcode == Opcode::bra && guard_varies(last));
    if (!splits) continue;
    for (const std::uint32_t d : divergent_blocks(b)) {
      changed |= !divergent_[d];
      divergent_[d] = true;
    }
  }
  return changed;
}

}  // namespace wm::rewrite
