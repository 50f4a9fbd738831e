#include "ptx/dominators.h"

#include <algorithm>
#include <utility>

namespace wm::ptx {
namespace {

// Blocks that the entry reaches, each before its successors but for the edges of loops.
std::vector<std::uint32_t> reverse_postorder(const ControlFlow& flow) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(flow.blocks.size());
  std::vector<std::pair<std::uint32_t, std::size_t>> path{{0, 0}};
  seen[0] = true;
  while (!path.empty()) {
    auto& [block, next] = path.back();
    const auto& successors = flow.blocks[block].successors;
    if (next == successors.size()) {
      order.push_back(block);
      path.pop_back();
      continue;
    }
    const std::uint32_t to = successors[next++];
    if (seen[to]) continue;
    seen[to] = true;
    path.emplace_back(to, 0);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

// Cooper, Harvey and Kennedy's iteration.
Dominators::Dominators(const ControlFlow& flow)
    : immediate_(flow.blocks.size(), kNoBlock), number_(flow.blocks.size(), kNoBlock) {
  if (flow.blocks.empty()) return;
  const std::vector<std::uint32_t> order = reverse_postorder(flow);
  for (std::uint32_t n = 0; n < order.size(); ++n) number_[order[n]] = n;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = 1; n < order.size(); ++n) {
      std::uint32_t common = kNoBlock;
      for (const std::uint32_t p : flow.blocks[order[n]].predecessors) {
        if (p != 0 && immediate_[p] == kNoBlock) continue;  // not reached yet
        common = common == kNoBlock ? p : this->common(common, p);
      }
      changed = changed || immediate_[order[n]] != common;
      immediate_[order[n]] = common;
    }
  }
}

std::uint32_t Dominators::common(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {
    std::uint32_t& later = number_[a] > number_[b] ? a : b;
    later = immediate_[later];
    if (later == kNoBlock) return 0;
  }
  return a;
}

bool Dominators::dominates(std::uint32_t dominator, std::uint32_t block) const {
  if (number_[block] == kNoBlock) return false;
  while (block != dominator && block != kNoBlock) block = immediate_[block];
  return block == dominator;
}

}  // namespace wm::ptx
