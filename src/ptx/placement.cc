#include "ptx/placement.h"

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
Placement::Placement(const ControlFlow& flow)
    : dominator_(flow.blocks.size(), kNoBlock), number_(flow.blocks.size(), kNoBlock) {
  if (flow.blocks.empty()) return;
  const std::vector<std::uint32_t> order = reverse_postorder(flow);
  for (std::uint32_t n = 0; n < order.size(); ++n) number_[order[n]] = n;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = 1; n < order.size(); ++n) {
      std::uint32_t common = kNoBlock;
      for (const std::uint32_t p : flow.blocks[order[n]].predecessors) {
        if (p != 0 && dominator_[p] == kNoBlock) continue;  // not reached yet
        common = common == kNoBlock ? p : common_dominator(common, p);
      }
      changed = changed || dominator_[order[n]] != common;
      dominator_[order[n]] = common;
    }
  }
  for (std::uint32_t last = 0; last < flow.blocks.size(); ++last)
    for (const std::uint32_t first : flow.blocks[last].successors)
      if (first <= last && dominates(first, last)) loops_.push_back({first, last});
}

std::uint32_t Placement::common_dominator(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {
    std::uint32_t& later = number_[a] > number_[b] ? a : b;
    later = dominator_[later];
    if (later == kNoBlock) return 0;
  }
  return a;
}

bool Placement::dominates(std::uint32_t dominator, std::uint32_t block) const {
  while (block != dominator && block != kNoBlock) block = dominator_[block];
  return block == dominator;
}

Placement::Loop Placement::innermost(std::uint32_t block) const {
  Loop found;
  for (const Loop& loop : loops_) {
    if (block < loop.first || block > loop.last) continue;
    if (found.last == kNoBlock || loop.first > found.first) found = loop;
  }
  return found;
}

std::uint32_t Placement::before_loops(std::uint32_t block, std::uint32_t defined) const {
  for (;;) {
    const Loop loop = innermost(block);
    if (loop.last == kNoBlock || (defined >= loop.first && defined <= loop.last)) return block;
    // Without a block before it, the loop has the entry or lies before it in the text.
    if (dominator_[loop.first] == kNoBlock || dominator_[loop.first] >= loop.first) return block;
    block = dominator_[loop.first];
  }
}

std::uint32_t Placement::before_loops_that_pass(std::uint32_t block, std::uint32_t defined) const {
  const Loop loop = innermost(block);
  return loop.last != kNoBlock && dominates(block, loop.last) ? before_loops(block, defined) : block;
}

}  // namespace wm::ptx
