// stencil: large runs 100 steps over 512 x 512 x 64 points, 256 blocks of 32 x 32.
#include "kernels/inputs.h"

namespace wm::zoo {

namespace stencil {

constexpr std::uint32_t kSide = 32;
constexpr float kCentre = 0.4F;
constexpr float kNeighbour = 0.1F;  // the seven weights sum to 1, so values stay in [0, 1)

std::vector<float> diffuse(std::vector<float> field, std::size_t nx, std::size_t ny, std::size_t nz, int steps) {
  std::vector<float> next = field;
  const std::size_t plane = nx * ny;
  for (int s = 0; s < steps; ++s, field.swap(next))
    for (std::size_t z = 1; z + 1 < nz; ++z)
      for (std::size_t y = 1; y + 1 < ny; ++y) {
        const float* at = field.data() + z * plane + y * nx;
        float* to = next.data() + z * plane + y * nx;
        for (std::size_t x = 1; x + 1 < nx; ++x) {
          const double sum =
              double{at[x - 1]} + at[x + 1] + *(at + x - nx) + at[x + nx] + *(at + x - plane) + at[x + plane];
          to[x] = static_cast<float>(double{kCentre} * at[x] + double{kNeighbour} * sum);
        }
      }
  return field;
}

Case make(Size size) {
  const auto nx = at(size, 64U, 256U, 512U), ny = at(size, 64U, 256U, 512U), nz = at(size, 16U, 32U, 64U);
  const int steps = at(size, 3, 4, 100);
  Random random(0x57e4);
  auto field = uniform_floats(random, std::size_t{nx} * ny * nz, 0, 1);

  Case c;
  gpu::Application& app = c.application;
  const auto a = app.add("a", field), b = app.add("b", field);
  app.upload(a);
  app.upload(b);
  for (int s = 0; s < steps; ++s)
    app.launch({"stencil",
                {nx / kSide, ny / kSide},
                {kSide, kSide},
                arguments(s % 2 == 0 ? a : b, s % 2 == 0 ? b : a, nx, ny, nz, kCentre, kNeighbour)});
  const auto result = steps % 2 == 0 ? a : b;
  app.download(result);
  c.reference = [=, field = std::move(field)](Case& out) {
    // A step averages, so it keeps the error and adds at most seven roundings of sums below 8 scaled by 0.1.
    out.expect(result, diffuse(field, nx, ny, nz, steps), steps * 4 * 0x1p-24);
  };
  return c;
}

}  // namespace stencil

Benchmark benchmark_stencil() {
  return {.name = "stencil",
          .about = "3D diffusion, 7-point stencil, one launch a step",
          .suite = "Parboil",
          .aliases = {"STENCIL"},
          .kernels = {{"stencil", "stencil"}},
          .make = stencil::make};
}

}  // namespace wm::zoo
