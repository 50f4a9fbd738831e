// Basic blocks, their edges, and immediate post-dominators.
#include <algorithm>

#include "ptx/analysis.h"

namespace wm::ptx {
namespace {

bool leaves(const Instruction& instruction) {
  return instruction.opcode == Opcode::ret || instruction.opcode == Opcode::exit || instruction.opcode == Opcode::trap;
}
bool branches(const Instruction& instruction) {
  return instruction.opcode == Opcode::bra || instruction.opcode == Opcode::brx_idx;
}

// Instructions a branch may go to, in the order written, each once.
std::vector<std::uint32_t> targets(const Function& function, const Instruction& instruction) {
  std::vector<std::uint32_t> at;
  const auto add = [&](std::uint32_t label) {
    const std::uint32_t target = function.labels[label].at;
    if (std::find(at.begin(), at.end(), target) == at.end()) at.push_back(target);
  };
  if (instruction.opcode == Opcode::bra) add(instruction.operands[0].index);
  if (instruction.opcode == Opcode::brx_idx)
    for (const std::uint32_t label : function.branch_tables[instruction.operands[1].index].labels) add(label);
  return at;
}

std::vector<bool> block_begins(const Function& function) {
  const std::size_t size = function.body.size();
  std::vector<bool> begins(size + 1);
  begins[0] = true;
  for (std::size_t i = 0; i < size; ++i) {
    const Instruction& instruction = function.body[i];
    for (const std::uint32_t target : targets(function, instruction)) begins[target] = true;
    if (branches(instruction) || leaves(instruction)) begins[i + 1] = true;
  }
  return begins;
}

void connect(const Function& function, ControlFlow& flow) {
  const auto size = static_cast<std::uint32_t>(function.body.size());
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    BasicBlock& block = flow.blocks[b];
    const Instruction& last = function.body[block.end - 1];
    const auto add = [&](std::uint32_t target) {
      if (target == size) return;  // past the last instruction: the function ends
      const std::uint32_t successor = flow.block_of[target];
      if (std::find(block.successors.begin(), block.successors.end(), successor) != block.successors.end()) return;
      block.successors.push_back(successor);
      flow.blocks[successor].predecessors.push_back(b);
    };
    for (const std::uint32_t target : targets(function, last)) add(target);
    if (last.guard.present || !(branches(last) || leaves(last))) add(block.end);
  }
}

// Whether some path from the block reaches the end of the function. The threads a guarded `ret` takes away never meet
// the others again, so such a path does not count: the analysis finds where the remaining threads reconverge.
bool ends_here(const Function& function, const BasicBlock& block) {
  const Instruction& last = function.body[block.end - 1];
  const auto size = static_cast<std::uint32_t>(function.body.size());
  if ((leaves(last) && !last.guard.present) || block.successors.empty()) return true;
  for (const std::uint32_t target : targets(function, last))
    if (target == size) return true;
  return block.end == size && (last.guard.present || !branches(last));
}

// Post-dominators as dominators of the reversed graph from one virtual exit (Cooper, Harvey and Kennedy's iteration).
class PostDominators {
 public:
  PostDominators(const Function& function, const ControlFlow& flow) : flow_(flow), exit_(count()) {
    leaves_.resize(count());
    for (std::uint32_t b = 0; b < count(); ++b) leaves_[b] = ends_here(function, flow.blocks[b]);
    number();
  }

  std::vector<std::uint32_t> solve() {
    parent_.assign(count() + 1, kNoBlock);
    parent_[exit_] = exit_;
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t b : order_) {
        const std::uint32_t now = meet(b);
        changed = changed || now != parent_[b];
        parent_[b] = now;
      }
    }
    std::vector<std::uint32_t> result(parent_.begin(), parent_.end() - 1);
    for (std::uint32_t& p : result)
      if (p == exit_) p = kNoBlock;
    return result;
  }

 private:
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(flow_.blocks.size()); }

  // Reverse post-order of the reversed graph. A loop nothing leaves never reaches the exit on its own, so the last of
  // its blocks is treated as an end of the function.
  void number() {
    position_.assign(count() + 1, 0);
    std::vector<bool> seen(count());
    std::vector<std::uint32_t> post;
    for (std::uint32_t b = 0; b < count(); ++b)
      if (leaves_[b]) visit(b, seen, post);
    for (std::uint32_t b = count(); b-- > 0;) {
      if (seen[b]) continue;
      leaves_[b] = true;
      visit(b, seen, post);
    }
    order_.assign(post.rbegin(), post.rend());
    position_[exit_] = count();
    for (std::uint32_t i = 0; i < post.size(); ++i) position_[post[i]] = i;
  }

  // Depth first against the edges, without recursion.
  void visit(std::uint32_t root, std::vector<bool>& seen, std::vector<std::uint32_t>& post) {
    if (seen[root]) return;
    seen[root] = true;
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const auto& before = flow_.blocks[block].predecessors;
      if (next == before.size()) {
        post.push_back(block);
        stack.pop_back();
        continue;
      }
      const std::uint32_t predecessor = before[next++];
      if (seen[predecessor]) continue;
      seen[predecessor] = true;
      stack.emplace_back(predecessor, 0);
    }
  }

  // The nearest block, or the exit, that all known paths from b pass through.
  [[nodiscard]] std::uint32_t meet(std::uint32_t b) const {
    std::uint32_t common = leaves_[b] ? exit_ : kNoBlock;
    for (const std::uint32_t s : flow_.blocks[b].successors) {
      if (parent_[s] == kNoBlock) continue;
      common = common == kNoBlock ? s : intersect(common, s);
    }
    return common;
  }

  [[nodiscard]] std::uint32_t intersect(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (position_[a] < position_[b]) a = parent_[a];
      while (position_[b] < position_[a]) b = parent_[b];
    }
    return a;
  }

  const ControlFlow& flow_;
  std::uint32_t exit_;
  std::vector<bool> leaves_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> position_;  // in post-order; the exit last
  std::vector<std::uint32_t> parent_;
};

}  // namespace

ControlFlow control_flow(const Function& function) {
  ControlFlow flow;
  const auto size = static_cast<std::uint32_t>(function.body.size());
  flow.block_of.resize(size);
  if (size == 0) return flow;
  const std::vector<bool> begins = block_begins(function);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (begins[i]) flow.blocks.push_back({i, i, {}, {}});
    flow.blocks.back().end = i + 1;
    flow.block_of[i] = static_cast<std::uint32_t>(flow.blocks.size() - 1);
  }
  connect(function, flow);
  flow.post_dominator = PostDominators(function, flow).solve();
  return flow;
}

}  // namespace wm::ptx
