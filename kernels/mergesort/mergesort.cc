// mergesort: large sorts 2^20 pairs, 1024 blocks of 512 threads a launch. Keys repeat, so that stability shows.
#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace mergesort {

constexpr std::uint32_t kTile = 1024;

Case make(Size size) {
  const std::uint32_t tiles = at(size, 4U, 128U, 1024U);
  const std::uint32_t n = tiles * kTile;
  Random random(0x50f);
  auto keys = uniform_integers(random, n, n / 2);
  std::vector<std::uint32_t> places(n);
  std::iota(places.begin(), places.end(), 0U);

  Case c;
  gpu::Application& app = c.application;
  const std::size_t bytes = n * sizeof(std::uint32_t);
  using Pairs = std::pair<gpu::BufferId, gpu::BufferId>;
  const Pairs input{app.add("keys", keys), app.add("values", places)};
  Pairs sorted{app.add_uninitialized("keys a", bytes), app.add_uninitialized("values a", bytes)};
  Pairs spare{app.add_uninitialized("keys b", bytes), app.add_uninitialized("values b", bytes)};
  app.upload(input.first);
  app.upload(input.second);
  app.launch(
      {"mergesort_shared", {tiles}, {kTile / 2}, arguments(input.first, input.second, sorted.first, sorted.second)});
  for (std::uint32_t run = kTile; run < n; run *= 2) {
    app.launch({"mergesort_merge",
                {tiles},
                {kTile / 2},
                arguments(sorted.first, sorted.second, spare.first, spare.second, run)});
    std::swap(sorted, spare);
  }
  app.download(sorted.first);
  app.download(sorted.second);

  c.reference = [keys = std::move(keys), places = std::move(places), sorted](Case& out) {
    std::vector<std::uint32_t> order = places;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    std::vector<std::uint32_t> expected;
    for (const std::uint32_t i : order) expected.push_back(keys[i]);
    out.expect(sorted.first, expected);
    out.expect(sorted.second, order);  // a pair's value is the place it came from
  };
  return c;
}

}  // namespace mergesort

Benchmark benchmark_mergesort() {
  return {.name = "mergesort",
          .about = "stable merge sort of key-value pairs: tiles in shared memory, then merges of sorted runs",
          .suite = "CUDA SDK",
          .aliases = {"MERGE"},
          .kernels = {{"shared", "mergesort_shared"}, {"merge", "mergesort_merge"}},
          .make = mergesort::make};
}

}  // namespace wm::zoo
