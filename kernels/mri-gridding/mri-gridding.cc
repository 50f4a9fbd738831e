// mri-gridding: large puts 2,655,910 samples onto 256^3 points: seven passes of a radix sort of 2594 blocks of 1024
// pairs, eight scans (the last over 2^24 cells), 65,536 blocks of 64 threads that gather. With short blocks it has a
// quarter of the samples on 64^3 points, whose counters L2 can hold.
#include <array>
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace mri_gridding {

constexpr std::uint32_t kFloats = 6;  // floats of a sample: x, y, z, real, imaginary, density compensation
constexpr std::uint32_t kSortTile = 1024;
constexpr std::uint32_t kDigits = 16;
constexpr std::uint32_t kScanTile = 1024;
constexpr std::uint32_t kInterTile = 64;  // sums a block joins at the scan tree's lower level
constexpr std::uint32_t kThreads = 512;
constexpr int kRadius = 2;  // radius of the window, in grid units

struct Grid {
  std::uint32_t nx, ny, nz;
  [[nodiscard]] std::uint32_t cells() const { return nx * ny * nz; }
};

// Denser towards the centre, as trajectories through k-space are; the compensation grows with the distance from it.
std::vector<float> generate(const Grid& g, std::uint32_t count) {
  Random random(0x36);
  std::vector<float> samples;
  samples.reserve(std::size_t{count} * kFloats);
  while (samples.size() < std::size_t{count} * kFloats) {
    std::array<float, 3> p{};
    float length = 0;
    for (float& v : p) {
      v = random.uniform(-1, 1);
      length += v * v;
    }
    if (length > 1) continue;
    // sqrt is exact on every host: direction kept, |p| becomes |p|^(3/2).
    const float pull = std::sqrt(std::sqrt(length));
    const std::array<std::uint32_t, 3> n{g.nx, g.ny, g.nz};
    for (std::size_t k = 0; k < 3; ++k) {
      const float half = static_cast<float>(n[k]) / 2;
      samples.push_back(half + p[k] * pull * (half - 1));
    }
    samples.push_back(random.uniform(-1, 1));
    samples.push_back(random.uniform(-1, 1));
    samples.push_back(0.1F + length);
  }
  return samples;
}

std::uint32_t cell_of(const Grid& g, const float* sample) {
  return static_cast<std::uint32_t>(sample[0]) +
         g.nx * (static_cast<std::uint32_t>(sample[1]) + g.ny * static_cast<std::uint32_t>(sample[2]));
}

// ---- the application ------------------------------------------------------------------------------------------------

struct Buffers {
  gpu::BufferId samples, sorted, bin_starts, digit_starts, sums, grid, density;
  std::array<gpu::BufferId, 2> keys, values;
};

std::uint32_t power_of_two(std::uint32_t n) {
  std::uint32_t p = 1;
  while (p < n) p *= 2;
  return p;
}

// In place, exclusive. Up to 64 block sums are one level of the tree; up to 64 * 256 two.
void scan(gpu::Application& app, gpu::BufferId data, std::uint32_t count, gpu::BufferId sums) {
  const std::uint32_t blocks = blocks_for(count, kScanTile), lower = blocks_for(blocks, kInterTile);
  const std::uint32_t upper = power_of_two(lower);
  app.steps.push_back(gpu::Fill{sums, 0, std::size_t{upper} * kInterTile * 4, std::byte{0}});
  app.launch({"mri_gridding_scanL1", {blocks}, {kThreads}, arguments(data, count, sums)});
  const bool two_levels = upper > 1;
  app.launch({"mri_gridding_scaninter1", {upper}, {kInterTile / 2}, arguments(sums, 1U)});
  if (two_levels) {
    app.launch({"mri_gridding_scaninter1", {1}, {upper / 2}, arguments(sums, kInterTile)});
    app.launch({"mri_gridding_scaninter2", {1}, {upper / 2}, arguments(sums, kInterTile, 1U)});
  }
  app.launch({"mri_gridding_scaninter2", {upper}, {kInterTile / 2}, arguments(sums, 1U, two_levels ? 0U : 1U)});
  app.launch({"mri_gridding_uniformAdd", {blocks}, {kThreads}, arguments(data, count, sums)});
}

// Four bits a pass until the key after the last cell, which pads the tiles, is sorted too. Returns where the result is.
std::size_t sort(gpu::Application& app, const Buffers& b, std::uint32_t tiles, std::uint32_t largest_key) {
  std::size_t from = 0;
  for (std::uint32_t shift = 0; shift < 32 && largest_key >> shift != 0; shift += 4, from = 1 - from) {
    app.launch(
        {"mri_gridding_splitSort", {tiles}, {256}, arguments(b.keys[from], b.values[from], shift, b.digit_starts)});
    scan(app, b.digit_starts, tiles * kDigits, b.sums);
    app.launch({"mri_gridding_splitRearrange",
                {tiles},
                {256},
                arguments(b.keys[from], b.values[from], shift, b.digit_starts, b.keys[1 - from], b.values[1 - from])});
  }
  return from;
}

// ---- the reference --------------------------------------------------------------------------------------------------

double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 24; ++k) sum += term *= x * x / 4 / (k * k);
  return sum;
}

double window(double r2) {
  const double u = 1 - r2 / (kRadius * kRadius);
  return u <= 0 ? 0 : (bessel_i0(6 * std::sqrt(u)) - 1) / (bessel_i0(6) - 1);
}

struct Gridded {
  std::vector<float> grid, density;
};

// Each sample spreads to the points around it; the kernel gathers.
Gridded spread(const Grid& g, const std::vector<float>& samples) {
  std::vector<double> grid(std::size_t{g.cells()} * 2), density(g.cells());
  for (std::size_t s = 0; s < samples.size(); s += kFloats) {
    const float* p = samples.data() + s;
    const auto low = [](float c) { return std::max(0, static_cast<int>(c) - kRadius + 1); };
    const auto high = [](float c, std::uint32_t n) {
      return std::min(static_cast<int>(n) - 1, static_cast<int>(c) + kRadius);
    };
    for (int z = low(p[2]); z <= high(p[2], g.nz); ++z)
      for (int y = low(p[1]); y <= high(p[1], g.ny); ++y)
        for (int x = low(p[0]); x <= high(p[0], g.nx); ++x) {
          const double dx = p[0] - x, dy = p[1] - y, dz = p[2] - z;
          const double r2 = dx * dx + dy * dy + dz * dz;
          if (r2 >= kRadius * kRadius) continue;
          const double w = window(r2) * p[5];
          const std::size_t at =
              static_cast<std::size_t>(x) +
              std::size_t{g.nx} * (static_cast<std::size_t>(y) + std::size_t{g.ny} * static_cast<std::size_t>(z));
          grid[2 * at] += w * p[3];
          grid[2 * at + 1] += w * p[4];
          density[at] += w;
        }
  }
  return {{grid.begin(), grid.end()}, {density.begin(), density.end()}};
}

void reference(Case& out, const Grid& g, const std::vector<float>& samples, const Buffers& b, gpu::BufferId order) {
  const std::size_t count = samples.size() / kFloats;
  std::vector<std::uint32_t> starts(std::size_t{g.cells()} + 1);
  for (std::size_t i = 0; i < count; ++i) ++starts[cell_of(g, &samples[i * kFloats]) + 1];
  for (std::size_t cell = 0; cell < g.cells(); ++cell) starts[cell + 1] += starts[cell];
  std::vector<std::uint32_t> next(starts), sorted(count);
  for (std::size_t i = 0; i < count; ++i)
    sorted[next[cell_of(g, &samples[i * kFloats])]++] = static_cast<std::uint32_t>(i);
  starts.pop_back();
  out.expect(order, sorted);
  out.expect(b.bin_starts, starts);

  const Gridded gridded = spread(g, samples);
  // A weight is right to 1e-6 (ten roundings of a polynomial below 67, truncated at 3e-7); the sums of up to a thousand
  // terms at the centre, below 100, add that much again.
  out.expect(b.grid, gridded.grid, 1e-4, 1e-5);
  out.expect(b.density, gridded.density, 1e-5, 1e-5);
}

Case make(Size size) {
  const Grid g{at(size, 16U, 32U, 256U, 64U), at(size, 16U, 32U, 256U, 64U), at(size, 8U, 32U, 256U, 64U)};
  const auto count = at(size, 500U, 8000U, 2655910U, 663978U);
  std::vector<float> samples = generate(g, count);
  const std::uint32_t tiles = blocks_for(count, kSortTile), padded = tiles * kSortTile;
  const std::uint32_t max_sums = blocks_for(std::max(g.cells(), tiles * kDigits), kScanTile);

  Case c;
  gpu::Application& app = c.application;
  Buffers b{};
  b.samples = app.add("samples", samples);
  b.sorted = app.add_uninitialized("sorted", samples.size() * 4);
  b.bin_starts = app.add_uninitialized("bin_starts", std::size_t{g.cells()} * 4);
  b.digit_starts = app.add_uninitialized("digit_starts", std::size_t{tiles} * kDigits * 4);
  b.sums = app.add_uninitialized("sums", std::size_t{power_of_two(blocks_for(max_sums, kInterTile))} * kInterTile * 4);
  b.grid = app.add_uninitialized("grid", std::size_t{g.cells()} * 8);
  b.density = app.add_uninitialized("density", std::size_t{g.cells()} * 4);
  for (auto* pair : {&b.keys, &b.values})
    for (std::size_t i = 0; i < 2; ++i)
      (*pair)[i] = app.add_uninitialized((pair == &b.keys ? "keys_" : "values_") + std::string(i == 0 ? "a" : "b"),
                                         std::size_t{padded} * 4);

  app.upload(b.samples);
  app.fill(b.bin_starts, std::byte{0});
  app.launch({"mri_gridding_binning",
              {padded / kThreads},
              {kThreads},
              arguments(b.samples, count, g.nx, g.ny, g.cells(), b.keys[0], b.values[0], b.bin_starts)});
  const gpu::BufferId order = b.values[sort(app, b, tiles, g.cells())];
  app.launch({"mri_gridding_reorder", {padded / kThreads}, {kThreads}, arguments(b.samples, order, b.sorted, count)});
  scan(app, b.bin_starts, g.cells(), b.sums);
  app.launch({"mri_gridding_gridding",
              {g.nx / 8, g.ny / 8, g.nz / 4},
              {64},
              arguments(b.sorted, b.bin_starts, count, b.grid, b.density)});
  app.download(b.grid);
  app.download(b.density);
  c.reference = [=, samples = std::move(samples)](Case& out) { reference(out, g, samples, b, order); };
  return c;
}

}  // namespace mri_gridding

Benchmark benchmark_mri_gridding() {
  std::vector<Kernel> kernels;
  for (const char* name : {"binning", "splitSort", "scanL1", "scaninter1", "scaninter2", "uniformAdd", "splitRearrange",
                           "reorder", "gridding"})
    kernels.push_back({name, std::string("mri_gridding_") + name});
  return {.name = "mri-gridding",
          .about = "MRI samples sorted by grid cell, then gathered by every grid point",
          .suite = "Parboil",
          .aliases = {"MRI-G", "MRIG", "MRI-GRIDDING"},
          .kernels = std::move(kernels),
          .make = mri_gridding::make};
}

}  // namespace wm::zoo
