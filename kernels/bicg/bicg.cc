// bicg: large is PolyBench's standard size, 4096 x 4096, in 16 blocks of 256 threads a kernel. With short blocks the
// matrix is wide: 768 blocks of bicg_1 walk 48 rows.
#include "kernels/dense.h"
#include "kernels/inputs.h"

namespace wm::zoo {

namespace bicg {

constexpr std::uint32_t kBlock = 256;

Case make(Size size) {
  const std::uint32_t rows = at(size, 340U, 2300U, 4096U, 48U);
  const std::uint32_t columns = at(size, 300U, 2000U, 4096U, 768 * kBlock);
  Random random(0xb1c);
  auto a = uniform_floats(random, std::size_t{rows} * columns, 0, 1);
  auto r = uniform_floats(random, rows, 0, 1);
  auto p = uniform_floats(random, columns, 0, 1);

  Case c;
  gpu::Application& app = c.application;
  const auto a_id = app.add("a", a);
  const auto r_id = app.add("r", r);
  const auto p_id = app.add("p", p);
  const auto s_id = app.add_uninitialized("s", columns * sizeof(float));
  const auto q_id = app.add_uninitialized("q", rows * sizeof(float));
  for (const auto id : {a_id, r_id, p_id}) app.upload(id);
  const auto launch = [&](const char* kernel, std::uint32_t threads, gpu::BufferId from, gpu::BufferId to) {
    app.launch({kernel, {blocks_for(threads, kBlock)}, {kBlock}, arguments(a_id, from, to, rows, columns)});
  };
  launch("bicg_1", columns, r_id, s_id);
  launch("bicg_2", rows, p_id, q_id);
  app.download(s_id);
  app.download(q_id);

  c.reference = [a = std::move(a), r = std::move(r), p = std::move(p), s_id, q_id](Case& out) {
    out.expect(s_id, narrow(transposed_times(a, widen(r))), 0, sum_tolerance(r.size()));
    out.expect(q_id, narrow(times(a, widen(p))), 0, sum_tolerance(p.size()));
  };
  return c;
}

}  // namespace bicg

Benchmark benchmark_bicg() {
  return {.name = "bicg",
          .about = "transpose(A) r and A p, the products of a biconjugate gradient step",
          .suite = "PolyBench",
          .aliases = {"BICG"},
          .kernels = {{"1", "bicg_1"}, {"2", "bicg_2"}},
          .make = bicg::make};
}

}  // namespace wm::zoo
