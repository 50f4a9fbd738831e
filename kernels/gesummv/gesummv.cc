// gesummv: large is PolyBench's standard size, 4096 x 4096 twice, in 16 blocks of 256 threads. With short blocks the
// matrices are tall, in 48 blocks that walk 8 columns: a kernel of its own, since gesummv has square ones.
#include "kernels/dense.h"
#include "kernels/inputs.h"

namespace wm::zoo {

namespace gesummv {

constexpr std::uint32_t kBlock = 256;
constexpr float kAlpha = 1.5F;
constexpr float kBeta = 0.75F;

Case make(Size size) {
  const std::uint32_t columns = at(size, 300U, 2100U, 4096U, 8U);
  const std::uint32_t rows = size == Size::short_blocks ? 48 * kBlock : columns;
  Random random(0x9e5);
  auto a = uniform_floats(random, std::size_t{rows} * columns, 0, 1);
  auto b = uniform_floats(random, std::size_t{rows} * columns, 0, 1);
  auto x = uniform_floats(random, columns, 0, 1);

  Case c;
  gpu::Application& app = c.application;
  const auto a_id = app.add("a", a);
  const auto b_id = app.add("b", b);
  const auto x_id = app.add("x", x);
  const auto y_id = app.add_uninitialized("y", rows * sizeof(float));
  for (const auto id : {a_id, b_id, x_id}) app.upload(id);
  const gpu::Dim3 blocks{blocks_for(rows, kBlock)};
  if (size == Size::short_blocks) {
    app.launch({"gesummv_tall", blocks, {kBlock}, arguments(a_id, b_id, x_id, y_id, rows, columns, kAlpha, kBeta)});
  } else {
    app.launch({"gesummv", blocks, {kBlock}, arguments(a_id, b_id, x_id, y_id, columns, kAlpha, kBeta)});
  }
  app.download(y_id);

  c.reference = [a = std::move(a), b = std::move(b), x = std::move(x), y_id](Case& out) {
    std::vector<double> y = times(a, widen(x));
    const std::vector<double> from_b = times(b, widen(x));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = kAlpha * y[i] + kBeta * from_b[i];
    out.expect(y_id, narrow(y), 0, sum_tolerance(x.size()));
  };
  return c;
}

}  // namespace gesummv

Benchmark benchmark_gesummv() {
  return {.name = "gesummv",
          .about = "alpha A x + beta B x for dense matrices, a thread a row",
          .suite = "PolyBench",
          .aliases = {"GESUMMV"},
          .kernels = {{"gesummv", "gesummv"}},
          .make = gesummv::make};
}

}  // namespace wm::zoo
