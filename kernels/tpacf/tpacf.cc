// tpacf: large has 487 observed points and 100 random sets, hence 201 blocks of 256 threads. With short blocks it has
// 64 points and 1000 random sets.
#include <array>
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace tpacf {

constexpr std::uint32_t kBlock = 256;
constexpr std::uint32_t kBins = 20;

struct Points {
  std::vector<float> x, y, z;

  // Coordinates in steps of 2^-11: then products and sums of three are exact in float, in any order, fused or not, and
  // the counts are the same everywhere.
  void add(double px, double py, double pz) {
    const auto step = [](double v) { return static_cast<float>(std::nearbyint(v * 0x1p11) * 0x1p-11); };
    const double length = std::sqrt(px * px + py * py + pz * pz);
    x.push_back(step(px / length));
    y.push_back(step(py / length));
    z.push_back(step(pz / length));
  }
};

// The first set is clustered, as galaxies are; the others are uniform on the sphere.
Points generate(std::uint32_t points, std::uint32_t sets) {
  Random random(0x79ac);
  Points out;
  std::array<double, 3> centre{};
  for (std::uint32_t i = 0; i < points * (sets + 1); ++i) {
    std::array<double, 3> p{};
    double length = 0;
    while (length < 0.01 || length > 1) {
      length = 0;
      for (double& v : p) {
        v = 2 * random.unit() - 1;
        length += v * v;
      }
    }
    const bool observed = i < points;
    if (i % 16 == 0) centre = p;
    if (observed)
      for (std::size_t k = 0; k < 3; ++k) p[k] = centre[k] + 0.2 * p[k];
    out.add(p[0], p[1], p[2]);
  }
  return out;
}

// Cosines of the bins' lower limits: bin 0 reaches down to angle 0, then 0.2 to 180 degrees, evenly in the logarithm.
std::vector<float> edges() {
  std::vector<float> out{2.0F};
  for (std::uint32_t i = 1; i < kBins; ++i) {
    const double degrees = 0.2 * std::pow(900.0, (i - 1) / double{kBins - 1});
    out.push_back(static_cast<float>(std::cos(degrees * std::acos(-1.0) / 180)));
  }
  return out;
}

std::vector<std::uint32_t> correlate(const Points& p, std::uint32_t points, std::uint32_t sets) {
  const std::vector<float> edge = edges();
  std::vector<std::uint32_t> out(std::size_t{2 * sets + 1} * kBins);
  for (std::uint32_t block = 0; block <= 2 * sets; ++block) {
    const bool self = block <= sets;
    const std::uint32_t first = self ? block * points : 0;
    const std::uint32_t second = self ? first : (block - sets) * points;
    for (std::uint32_t i = 0; i < points; ++i)
      for (std::uint32_t j = self ? i + 1 : 0; j < points; ++j) {
        const float dot =
            p.x[first + i] * p.x[second + j] + p.y[first + i] * p.y[second + j] + p.z[first + i] * p.z[second + j];
        std::uint32_t bin = 0;
        while (bin + 1 < kBins && dot < edge[bin + 1]) ++bin;
        ++out[block * kBins + bin];
      }
  }
  return out;
}

Case make(Size size) {
  const auto points = at(size, 160U, 487U, 487U, 64U), sets = at(size, 2U, 8U, 100U, 1000U);
  Points p = generate(points, sets);
  Case c;
  gpu::Application& app = c.application;
  const auto x = app.add("x", p.x), y = app.add("y", p.y), z = app.add("z", p.z), edge = app.add("edges", edges());
  const auto histograms = app.add_uninitialized("histograms", std::size_t{2 * sets + 1} * kBins * 4);
  for (const auto id : {x, y, z, edge}) app.upload(id);
  app.launch({"tpacf", {2 * sets + 1}, {kBlock}, arguments(x, y, z, edge, histograms, points, sets)});
  app.download(histograms);
  c.reference = [=, p = std::move(p)](Case& out) { out.expect(histograms, correlate(p, points, sets)); };
  return c;
}

}  // namespace tpacf

Benchmark benchmark_tpacf() {
  return {.name = "tpacf",
          .about = "two-point angular correlation: histograms of angles between points on a sphere",
          .suite = "Parboil",
          .aliases = {"TPACF"},
          .kernels = {{"tpacf", "tpacf"}},
          .make = tpacf::make};
}

}  // namespace wm::zoo
