// cutcp: water-like charges, cutoff 12 A. Large is 88^3 points 0.5 A apart: 11 launches of 121 blocks of 128 threads.
// With short blocks the cutoff is 4 A, so that a block visits 27 bins, bins hold
// fewer atoms, and a launch has 400 blocks.
#include <array>
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace cutcp {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kSide = 8;
constexpr std::uint32_t kDepth = 8;
constexpr int kPadding = 3;  // empty bins around, as far as the cutoff reaches
constexpr float kSpacing = 0.5F;
constexpr float kRegion = kSide * kSpacing;

struct Atom {
  float x, y, z, charge;
};

struct Box {
  std::uint32_t regions;  // along each axis
  float cutoff;
  std::uint32_t min_atoms;  // every bin has at least so many
  [[nodiscard]] std::uint32_t bins() const { return regions + 2 * kPadding; }
  [[nodiscard]] std::uint32_t points() const { return regions * kSide; }
};

// One atom in ten cubic angstroms, or fewer with short blocks; at most eight a bin. Each lies in the middle half of a
// lattice cell: next to a point 1/r would magnify the rounding of coordinates.
std::vector<std::vector<Atom>> generate(const Box& box) {
  Random random(0xc07);
  const std::size_t bins = box.bins();
  std::vector<std::vector<Atom>> out(bins * bins * bins);
  for (std::uint32_t z = 0; z < box.regions; ++z)
    for (std::uint32_t y = 0; y < box.regions; ++y)
      for (std::uint32_t x = 0; x < box.regions; ++x) {
        auto& bin = out[x + kPadding + bins * (y + kPadding + bins * (z + kPadding))];
        const std::uint32_t atoms = box.min_atoms + random.below(4);
        for (std::uint32_t i = 0; i < atoms; ++i) {
          const auto place = [&random](std::uint32_t region) {
            const float cell = static_cast<float>(region * kSide + random.below(kSide));
            return (cell + random.uniform(0.25F, 0.75F)) * kSpacing;
          };
          const float px = place(x), py = place(y), pz = place(z);
          bin.push_back({px, py, pz, i % 3 == 0 ? -0.834F : 0.417F});
        }
      }
  return out;
}

// Offsets of the bins that hold a point closer than the cutoff to some point of the home bin.
std::vector<std::int32_t> neighbours(const Box& box) {
  std::vector<std::int32_t> out;
  const auto gap = [](int d) { return static_cast<float>(std::max(0, std::abs(d) - 1)) * kRegion; };
  const int bins = static_cast<int>(box.bins());
  for (int z = -kPadding; z <= kPadding; ++z)
    for (int y = -kPadding; y <= kPadding; ++y)
      for (int x = -kPadding; x <= kPadding; ++x)
        if (gap(x) * gap(x) + gap(y) * gap(y) + gap(z) * gap(z) < box.cutoff * box.cutoff)
          out.push_back(x + bins * (y + bins * z));
  return out;
}

std::vector<float> potential(const Box& box, const std::vector<std::vector<Atom>>& bins) {
  const int n = static_cast<int>(box.points());
  std::vector<double> sum(std::size_t(n) * n * n);
  for (const auto& bin : bins)
    for (const Atom& atom : bin) {
      const auto low = [r = box.cutoff](float c) { return std::max(0, static_cast<int>((c - r) / kSpacing)); };
      const auto high = [n, r = box.cutoff](float c) {
        return std::min(n - 1, static_cast<int>((c + r) / kSpacing) + 1);
      };
      for (int z = low(atom.z); z <= high(atom.z); ++z)
        for (int y = low(atom.y); y <= high(atom.y); ++y)
          for (int x = low(atom.x); x <= high(atom.x); ++x) {
            const double dx = x * double{kSpacing} - atom.x, dy = y * double{kSpacing} - atom.y;
            const double dz = z * double{kSpacing} - atom.z, r2 = dx * dx + dy * dy + dz * dz;
            if (r2 >= double{box.cutoff} * box.cutoff) continue;
            const double s = 1 - r2 / (double{box.cutoff} * box.cutoff);
            sum[std::size_t(x) + std::size_t(n) * (std::size_t(y) + std::size_t(n) * std::size_t(z))] +=
                atom.charge / std::sqrt(r2) * s * s;
          }
    }
  return {sum.begin(), sum.end()};
}

Case make(Size size) {
  const Box box{at(size, 2U, 4U, 11U, 20U), at(size, 12.0F, 12.0F, 12.0F, 4.0F), at(size, 5U, 5U, 5U, 1U)};
  auto atoms = generate(box);
  std::vector<float> flat;
  for (const auto& bin : atoms)
    for (std::uint32_t i = 0; i < kDepth; ++i) {
      const Atom a = i < bin.size() ? bin[i] : Atom{0, 0, 0, 0};
      flat.insert(flat.end(), {a.x, a.y, a.z, a.charge});
    }
  const std::vector<std::int32_t> near = neighbours(box);

  Case c;
  gpu::Application& app = c.application;
  const auto bins = app.add("bins", flat), offsets = app.add("neighbours", near);
  const std::size_t points = std::size_t{box.points()} * box.points() * box.points();
  const auto out = app.add_uninitialized("potential", points * sizeof(float));
  app.upload(bins);
  app.upload(offsets);
  for (std::uint32_t layer = 0; layer < box.regions; ++layer)
    app.launch({"cutcp",
                {box.regions, box.regions},
                {kThreads},
                arguments(bins, offsets, static_cast<std::uint32_t>(near.size()), layer, box.bins(), box.bins(),
                          kPadding, kSpacing, box.cutoff * box.cutoff, out)});
  app.download(out);
  c.reference = [=, atoms = std::move(atoms)](Case& reference) {
    // Coordinates up to 44 are right to 4e-6, and r is at least 0.2: 1/r, at most 5, is right to 1e-4 at the nearest
    // atom and far better elsewhere; some 700 roundings of sums below 20 add 1e-4.
    reference.expect(out, potential(box, atoms), 3e-4);
  };
  return c;
}

}  // namespace cutcp

Benchmark benchmark_cutcp() {
  return {.name = "cutcp",
          .about = "electrostatic potential on a lattice from charges within a cutoff",
          .suite = "Parboil",
          .aliases = {"CP", "CUTCP"},
          .kernels = {{"cutcp", "cutcp"}},
          .make = cutcp::make};
}

}  // namespace wm::zoo
