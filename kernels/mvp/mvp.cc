// mvp: large has 765 blocks of 192 threads (Warped-Slicer, table II), a row each, the last block not quite full.
#include "kernels/dense.h"
#include "kernels/inputs.h"

namespace wm::zoo {

namespace mvp {

constexpr std::uint32_t kBlock = 192;
constexpr std::uint32_t kPanel = 8;

// The matrix by rows as the kernel wants it: panels of 8 columns, each by rows.
std::vector<float> in_panels(const std::vector<float>& a, std::size_t columns) {
  const std::size_t rows = a.size() / columns;
  std::vector<float> panels(a.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      panels[(j / kPanel * rows + i) * kPanel + j % kPanel] = a[i * columns + j];
  return panels;
}

Case make(Size size) {
  const std::uint32_t rows = at(size, 16U, 400U, 765U) * kBlock - 71;
  const std::uint32_t columns = at(size, 64U, 128U, 64U);
  Random random(0x3b9);
  auto a = uniform_floats(random, std::size_t{rows} * columns, 0, 1);
  auto x = uniform_floats(random, columns, 0, 1);

  Case c;
  gpu::Application& app = c.application;
  const auto matrix_id = app.add("matrix", in_panels(a, columns));
  const auto x_id = app.add("x", x);
  const auto y_id = app.add_uninitialized("y", rows * sizeof(float));
  app.upload(matrix_id);
  app.upload(x_id);
  app.launch({"mvp", {blocks_for(rows, kBlock)}, {kBlock}, arguments(matrix_id, x_id, y_id, rows, columns)});
  app.download(y_id);

  c.reference = [a = std::move(a), x = std::move(x), y_id](Case& out) {
    out.expect(y_id, narrow(times(a, widen(x))), 0, sum_tolerance(x.size()));
  };
  return c;
}

}  // namespace mvp

Benchmark benchmark_mvp() {
  return {.name = "mvp",
          .about = "matrix times vector, a thread walking each row: lives from L1 until too many blocks share it",
          .suite = "Parboil",
          .aliases = {"MVP"},
          .kernels = {{"mvp", "mvp"}},
          .make = mvp::make};
}

}  // namespace wm::zoo
