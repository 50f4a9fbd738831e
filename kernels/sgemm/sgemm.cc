// sgemm: large multiplies 1024 x 992 by 992 x 1056 in 528 blocks of 128 threads.
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace sgemm {

constexpr std::uint32_t kTileM = 128;
constexpr std::uint32_t kTileN = 16;
constexpr std::uint32_t kTileK = 8;
constexpr float kAlpha = 1.5F;
constexpr float kBeta = -0.5F;

std::vector<float> multiply(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c,
                            std::size_t m, std::size_t n, std::size_t k) {
  std::vector<float> out(m * n);
  std::vector<double> column(m);
  for (std::size_t j = 0; j < n; ++j) {
    column.assign(m, 0.0);
    for (std::size_t l = 0; l < k; ++l) {
      const double scale = b[j + l * n];
      for (std::size_t i = 0; i < m; ++i) column[i] += scale * a[i + l * m];
    }
    for (std::size_t i = 0; i < m; ++i)
      out[i + j * m] = static_cast<float>(kAlpha * column[i] + kBeta * double{c[i + j * m]});
  }
  return out;
}

Case make(Size size) {
  const auto m = at(size, 256U, 512U, 1024U), n = at(size, 64U, 256U, 1056U), k = at(size, 96U, 384U, 992U);
  Random random(0x9e33);
  auto a = uniform_floats(random, std::size_t{m} * k, -1, 1);
  auto b = uniform_floats(random, std::size_t{n} * k, -1, 1);
  auto c0 = uniform_floats(random, std::size_t{m} * n, -1, 1);

  Case c;
  gpu::Application& app = c.application;
  const auto da = app.add("a", a), db = app.add("b", b), dc = app.add("c", c0);
  for (const auto id : {da, db, dc}) app.upload(id);
  app.launch({"sgemm", {m / kTileM, n / kTileN}, {kTileN, kTileK}, arguments(da, m, db, n, dc, m, k, kAlpha, kBeta)});
  app.download(dc);
  c.reference = [=, a = std::move(a), b = std::move(b), c0 = std::move(c0)](Case& out) {
    // k roundings, each of half an ulp of a partial sum that stays below about 2 sqrt(k): products of random sign.
    out.expect(dc, multiply(a, b, c0, m, n, k), k * 2 * std::sqrt(k) * 0x1p-24);
  };
  return c;
}

}  // namespace sgemm

Benchmark benchmark_sgemm() {
  return {.name = "sgemm",
          .about = "dense matrix product, register-tiled",
          .suite = "Parboil",
          .aliases = {"MM", "SGEMM"},
          .kernels = {{"sgemm", "sgemm"}},
          .make = sgemm::make};
}

}  // namespace wm::zoo
