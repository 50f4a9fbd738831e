#include "rewrite/ptx/loops.h"

#include <algorithm>
#include <map>
#include <set>

#include "ptx/dominators.h"

namespace wm::rewrite {
namespace {

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
  const ptx::Dominators dominators(flow);
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
