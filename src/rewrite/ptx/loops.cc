#include "rewrite/ptx/loops.h"

#include <algorithm>
#include <map>
#include <set>

namespace wm::rewrite {
namespace {

using ptx::kNoBlock;

// Immediate dominators, by the iteration of Cooper, Harvey and Kennedy. Unreachable blocks have none.
class Dominators {
 public:
  explicit Dominators(const ptx::ControlFlow& flow) : parent_(flow.blocks.size(), kNoBlock) {
    number(flow);
    if (parent_.empty()) return;
    parent_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t b : order_) {
        if (b == 0) continue;
        std::uint32_t common = kNoBlock;
        for (const std::uint32_t p : flow.blocks[b].predecessors) {
          if (parent_[p] == kNoBlock) continue;
          common = common == kNoBlock ? p : meet(common, p);
        }
        changed |= common != parent_[b];
        parent_[b] = common;
      }
    }
  }

  [[nodiscard]] bool dominates(std::uint32_t a, std::uint32_t b) const {
    if (parent_[b] == kNoBlock) return false;
    while (position_[b] > position_[a]) b = parent_[b];
    return a == b;
  }

 private:
  // Reverse post-order, depth first without recursion.
  void number(const ptx::ControlFlow& flow) {
    position_.assign(flow.blocks.size(), 0);
    if (flow.blocks.empty()) return;
    std::vector<bool> seen(flow.blocks.size());
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{0, 0}};
    seen[0] = true;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const auto& successors = flow.blocks[block].successors;
      if (next == successors.size()) {
        order_.push_back(block);
        stack.pop_back();
        continue;
      }
      const std::uint32_t s = successors[next++];
      if (seen[s]) continue;
      seen[s] = true;
      stack.emplace_back(s, 0);
    }
    std::reverse(order_.begin(), order_.end());
    for (std::uint32_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
  }

  [[nodiscard]] std::uint32_t meet(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (position_[a] > position_[b]) a = parent_[a];
      while (position_[b] > position_[a]) b = parent_[b];
    }
    return a;
  }

  std::vector<std::uint32_t> order_, position_, parent_;
};

std::vector<std::uint32_t> loop_blocks(const ptx::ControlFlow& flow, std::uint32_t header,
                                       const std::vector<std::uint32_t>& latches) {
  std::set<std::uint32_t> blocks{header};
  std::vector<std::uint32_t> open(latches);
  while (!open.empty()) {
    const std::uint32_t b = open.back();
    open.pop_back();
    if (!blocks.insert(b).second) continue;
    for (const std::uint32_t p : flow.blocks[b].predecessors) open.push_back(p);
  }
  return {blocks.begin(), blocks.end()};
}

}  // namespace

std::vector<Loop> find_loops(const ptx::Function& function, const ptx::ControlFlow& flow) {
  const Dominators dominators(flow);
  std::map<std::uint32_t, std::vector<std::uint32_t>> latches;  // by header
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    for (const std::uint32_t s : flow.blocks[b].successors) {
      if (dominators.dominates(s, b)) latches[s].push_back(b);
    }
  }
  std::vector<Loop> loops;
  for (const auto& [header, ends] : latches) {
    Loop loop;
    loop.header = header;
    loop.blocks = loop_blocks(flow, header, ends);
    for (const std::uint32_t b : loop.blocks) loop.instructions += flow.blocks[b].end - flow.blocks[b].begin;
    for (const std::uint32_t b : ends) {
      const std::uint32_t last = flow.blocks[b].end - 1;
      if (function.body[last].opcode == ptx::Opcode::bra) loop.back_edges.push_back(last);
    }
    loop.begin = flow.blocks[loop.blocks.front()].begin;
    loop.end = flow.blocks[loop.blocks.back()].end;
    loop.contiguous = loop.blocks.front() == header && loop.blocks.back() - header + 1 == loop.blocks.size();
    loops.push_back(std::move(loop));
  }
  for (Loop& outer : loops) {
    outer.innermost = std::none_of(loops.begin(), loops.end(), [&](const Loop& inner) {
      return inner.header != outer.header && std::binary_search(outer.blocks.begin(), outer.blocks.end(), inner.header);
    });
  }
  return loops;
}

}  // namespace wm::rewrite
