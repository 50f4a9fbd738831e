// pathfinder: large has 100,000 columns and 100 rows below the first, 20 a launch: 463 blocks of 256 threads, 5
// launches.
#include <algorithm>
#include <utility>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace pathfinder {

constexpr std::int32_t kBlock = 256;
constexpr std::int32_t kRowsALaunch = 20;

// The cost of the cheapest path to every cell of the last row; `cost` holds the rows below the first.
std::vector<std::int32_t> cheapest(std::vector<std::int32_t> path, const std::vector<std::int32_t>& cost) {
  const std::size_t columns = path.size();
  for (std::size_t row = 0; row < cost.size(); row += columns) {
    std::vector<std::int32_t> next(columns);
    for (std::size_t x = 0; x < columns; ++x) {
      std::int32_t best = path[x];
      if (x > 0) best = std::min(best, path[x - 1]);
      if (x + 1 < columns) best = std::min(best, path[x + 1]);
      next[x] = best + cost[row + x];
    }
    path = std::move(next);
  }
  return path;
}

std::vector<std::int32_t> random_costs(Random& random, std::size_t count) {
  std::vector<std::int32_t> cost(count);
  for (std::int32_t& c : cost) c = static_cast<std::int32_t>(random.below(10));
  return cost;
}

Case make(Size size) {
  const std::int32_t columns = at(size, 2'000, 100'000, 100'000);
  const std::int32_t rows = at(size, 33, 47, 100);
  Random random(0x9a7);
  const auto first = random_costs(random, columns);
  const auto cost = random_costs(random, static_cast<std::size_t>(rows) * columns);

  Case c;
  gpu::Application& app = c.application;
  const auto cost_id = app.add("cost", cost);
  auto before = app.add("path", first);
  auto after = app.add_uninitialized("path after", columns * sizeof(std::int32_t));
  app.upload(cost_id);
  app.upload(before);
  for (std::int32_t row = 0; row < rows; row += kRowsALaunch) {
    const std::int32_t now = std::min(kRowsALaunch, rows - row);
    app.launch({"pathfinder",
                {blocks_for(columns, kBlock - 2 * now)},
                {kBlock},
                arguments(cost_id, before, after, columns, row, now)});
    std::swap(before, after);
  }
  app.download(before);
  c.expect(before, cheapest(first, cost));
  return c;
}

}  // namespace pathfinder

Benchmark benchmark_pathfinder() {
  return {.name = "pathfinder",
          .about = "cheapest path down a grid by dynamic programming, several rows a launch in shared memory",
          .suite = "Rodinia",
          .aliases = {"PF"},
          .kernels = {{"pathfinder", "pathfinder"}},
          .make = pathfinder::make};
}

}  // namespace wm::zoo
