// Liveness: the registers that hold a value still to be read, at the edges of basic blocks.
#include "ptx/analysis.h"
#include "ptx/def_use.h"
#include "ptx/register_set.h"

namespace wm::ptx {
namespace {

// The registers a block reads before it writes them, and those it always writes. A guarded write may leave the old
// value.
struct Summary {
  RegisterSet read;
  RegisterSet written;
};

Summary summarize(const Function& function, const BasicBlock& block) {
  Summary s{RegisterSet(function.registers.size()), RegisterSet(function.registers.size())};
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    const Instruction& instruction = function.body[i];
    for_each_use(instruction, [&](std::uint32_t r) {
      if (!s.written.contains(r)) s.read.insert(r);
    });
    if (instruction.guard.present) continue;
    for_each_definition(instruction, [&](std::uint32_t r) { s.written.insert(r); });
  }
  return s;
}

}  // namespace

Liveness liveness(const Function& function, const ControlFlow& flow) {
  const std::size_t count = flow.blocks.size();
  std::vector<Summary> summaries;
  summaries.reserve(count);
  for (const BasicBlock& block : flow.blocks) summaries.push_back(summarize(function, block));

  // A function's register results are read by its caller.
  RegisterSet at_end(function.registers.size());
  for (const Variable& result : function.results)
    for (std::uint32_t r = 0; r < function.registers.size(); ++r)
      if (result.space == Space::reg && function.registers[r].name == result.name) at_end.insert(r);

  std::vector<RegisterSet> in(count, RegisterSet(function.registers.size()));
  std::vector<RegisterSet> out = in;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = count; b-- > 0;) {
      if (flow.blocks[b].successors.empty() || function.body[flow.blocks[b].end - 1].opcode == Opcode::ret) {
        out[b].merge(at_end);
      }
      for (const std::uint32_t s : flow.blocks[b].successors) out[b].merge(in[s]);
      RegisterSet now = out[b];
      now.remove(summaries[b].written);
      now.merge(summaries[b].read);
      changed = in[b].merge(now) || changed;
    }
  }

  Liveness result;
  for (std::size_t b = 0; b < count; ++b) {
    result.live_in.push_back(in[b].members());
    result.live_out.push_back(out[b].members());
  }
  return result;
}

}  // namespace wm::ptx
