// atax: large is PolyBench's standard size, 4096 x 4096, in 16 blocks of 256 threads a kernel. With short blocks the
// matrix is tall: 48 blocks of atax_1 walk 16 columns.
#include "kernels/dense.h"
#include "kernels/inputs.h"

namespace wm::zoo {

namespace atax {

constexpr std::uint32_t kBlock = 256;

Case make(Size size) {
  const std::uint32_t rows = at(size, 300U, 2000U, 4096U, 48 * kBlock);
  const std::uint32_t columns = at(size, 340U, 2300U, 4096U, 16U);
  Random random(0xa7a);
  auto a = uniform_floats(random, std::size_t{rows} * columns, 0, 1);
  auto x = uniform_floats(random, columns, 0, 1);

  Case c;
  gpu::Application& app = c.application;
  const auto a_id = app.add("a", a);
  const auto x_id = app.add("x", x);
  const auto tmp_id = app.add_uninitialized("tmp", rows * sizeof(float));
  const auto y_id = app.add_uninitialized("y", columns * sizeof(float));
  app.upload(a_id);
  app.upload(x_id);
  const auto launch = [&](const char* kernel, std::uint32_t threads, gpu::BufferId from, gpu::BufferId to) {
    app.launch({kernel, {blocks_for(threads, kBlock)}, {kBlock}, arguments(a_id, from, to, rows, columns)});
  };
  launch("atax_1", rows, x_id, tmp_id);
  launch("atax_2", columns, tmp_id, y_id);
  app.download(y_id);

  c.reference = [a = std::move(a), x = std::move(x), rows, columns, y_id](Case& out) {
    // The errors of tmp average out in the second sum; adding both bounds is on the safe side.
    out.expect(y_id, narrow(transposed_times(a, times(a, widen(x)))), 0, sum_tolerance(rows) + sum_tolerance(columns));
  };
  return c;
}

}  // namespace atax

Benchmark benchmark_atax() {
  return {.name = "atax",
          .about = "transpose(A) A x for a dense matrix: walks its rows, then its columns",
          .suite = "PolyBench",
          .aliases = {"ATAX"},
          .kernels = {{"1", "atax_1"}, {"2", "atax_2"}},
          .make = atax::make};
}

}  // namespace wm::zoo
