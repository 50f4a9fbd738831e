// Random gathers from a table; unsigned sums, so the order does not matter and the result is exact.
#include "kernels/inputs.h"

namespace wm::zoo {

namespace gather {

constexpr std::uint32_t kBlock = 256;

struct Shape {
  std::uint32_t blocks;
  std::uint32_t gathers_per_thread;
  std::uint32_t words;  // in the table
};

Case make(Size size) {
  // The large table is 128 MiB: twice the L2 of the biggest GPU we know.
  const auto s = at(size, Shape{16, 7, 1U << 16U}, Shape{256, 31, 1U << 22U}, Shape{512, 16, 1U << 25U});
  const std::uint32_t threads = s.blocks * kBlock;
  Random random(3);
  const auto table = uniform_integers(random, s.words, UINT32_MAX);
  const auto index = uniform_integers(random, std::size_t{threads} * s.gathers_per_thread, s.words);
  std::vector<std::uint32_t> sum(threads);
  for (std::size_t i = 0; i < index.size(); ++i) sum[i % threads] += table[index[i]];

  Case c;
  gpu::Application& app = c.application;
  const auto table_id = app.add("table", table);
  const auto index_id = app.add("index", index);
  const auto sum_id = app.add_uninitialized("sum", sum.size() * sizeof(std::uint32_t));
  app.upload(table_id);
  app.upload(index_id);
  app.launch({.kernel = "gather",
              .grid = {s.blocks},
              .block = {kBlock},
              .arguments = arguments(table_id, index_id, sum_id, s.gathers_per_thread)});
  app.download(sum_id);
  c.expect(sum_id, sum);
  return c;
}

}  // namespace gather

Benchmark benchmark_gather() {
  return {.name = "gather",
          .about = "sums entries of a large table at random indices: 32 lines for nearly every load",
          .suite = "micro",
          .aliases = {},
          .kernels = {{"gather", "gather"}},
          .make = gather::make};
}

}  // namespace wm::zoo
