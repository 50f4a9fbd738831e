// bfs: large searches a random graph of a million nodes with six neighbours each on average, 1954 blocks of 512 a
// level.
#include <algorithm>
#include <deque>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace bfs {

constexpr std::uint32_t kBlock = 512;
constexpr std::uint32_t kUnvisited = 0xffffffff;
constexpr std::uint32_t kRoot = 0;

struct Graph {
  std::vector<std::uint32_t> nodes;  // first edge and degree, interleaved
  std::vector<std::uint32_t> edges;
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(nodes.size() / 2); }
};

// Undirected: each edge is stored at both ends. A few nodes draw many more neighbours, so that degrees vary.
Graph generate(std::uint32_t count) {
  Random random(0xbf5);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  ends.reserve(std::size_t{count} * 6);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t own = random.below(64) == 0 ? 16 : 1 + random.below(5);
    for (std::uint32_t e = 0; e < own; ++e) {
      const std::uint32_t other = random.below(count);
      ends.emplace_back(i, other);
      ends.emplace_back(other, i);
    }
  }
  Graph g{std::vector<std::uint32_t>(std::size_t{count} * 2), std::vector<std::uint32_t>(ends.size())};
  for (const auto& [from, to] : ends) ++g.nodes[2 * from + 1];
  for (std::uint32_t i = 1; i < count; ++i) g.nodes[2 * i] = g.nodes[2 * i - 2] + g.nodes[2 * i - 1];
  std::vector<std::uint32_t> next(count);
  for (std::uint32_t i = 0; i < count; ++i) next[i] = g.nodes[2 * i];
  for (const auto& [from, to] : ends) g.edges[next[from]++] = to;
  return g;
}

std::vector<std::uint32_t> search(const Graph& g) {
  std::vector<std::uint32_t> level(g.count(), kUnvisited);
  std::deque<std::uint32_t> queue{kRoot};
  level[kRoot] = 0;
  while (!queue.empty()) {
    const std::uint32_t i = queue.front();
    queue.pop_front();
    for (std::uint32_t e = 0; e < g.nodes[2 * i + 1]; ++e) {
      const std::uint32_t n = g.edges[g.nodes[2 * i] + e];
      if (level[n] != kUnvisited) continue;
      level[n] = level[i] + 1;
      queue.push_back(n);
    }
  }
  return level;
}

Case make(Size size) {
  const Graph g = generate(at(size, 2048U, 131072U, 1000000U));
  const std::vector<std::uint32_t> expected = search(g);
  std::uint32_t deepest = 0;
  for (const std::uint32_t l : expected)
    if (l != kUnvisited) deepest = std::max(deepest, l);

  Case c;
  gpu::Application& app = c.application;
  std::vector<std::uint32_t> start(g.count(), kUnvisited);
  start[kRoot] = 0;
  const auto nodes = app.add("nodes", g.nodes), edges = app.add("edges", g.edges), level = app.add("level", start);
  for (const auto id : {nodes, edges, level}) app.upload(id);
  // The deepest level finds nothing new; a host learns that only by launching it.
  for (std::uint32_t current = 0; current <= deepest; ++current)
    app.launch({"bfs", {blocks_for(g.count(), kBlock)}, {kBlock}, arguments(nodes, edges, level, g.count(), current)});
  app.download(level);
  c.expect(level, expected);
  return c;
}

}  // namespace bfs

Benchmark benchmark_bfs() {
  return {.name = "bfs",
          .about = "breadth-first search of a random graph, one launch a level",
          .suite = "Parboil",
          .aliases = {"BFS"},
          .kernels = {{"bfs", "bfs"}},
          .make = bfs::make};
}

}  // namespace wm::zoo
