// Sums of two vectors. One addition has one correct rounding, so the result is compared to the bit.
#include "kernels/inputs.h"

namespace wm::zoo {

namespace vecadd {

constexpr std::uint32_t kBlock = 256;

Case make(Size size) {
  // Small and medium end inside a block, so that the bounds test matters.
  const std::uint32_t n = at(size, 64 * kBlock - 39, 1024 * kBlock - 100, 4096 * kBlock);
  Random random(1);
  const auto a = uniform_floats(random, n, -100, 100);
  const auto b = uniform_floats(random, n, -100, 100);
  std::vector<float> sum(n);
  for (std::size_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];

  Case c;
  gpu::Application& app = c.application;
  const auto a_id = app.add("a", a);
  const auto b_id = app.add("b", b);
  const auto c_id = app.add_uninitialized("c", n * sizeof(float));
  app.upload(a_id);
  app.upload(b_id);
  app.launch({.kernel = "vecadd",
              .grid = {blocks_for(n, kBlock)},
              .block = {kBlock},
              .arguments = arguments(a_id, b_id, c_id, n)});
  app.download(c_id);
  c.expect(c_id, sum);
  return c;
}

}  // namespace vecadd

Benchmark benchmark_vecadd() {
  return {.name = "vecadd",
          .about = "adds two vectors: streams memory, one addition an element",
          .suite = "micro",
          .aliases = {},
          .kernels = {{"vecadd", "vecadd"}},
          .make = vecadd::make};
}

}  // namespace wm::zoo
