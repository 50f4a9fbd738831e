// hotspot: large has 1024 x 1024 cells, two steps a launch, so 86 x 86 = 7396 blocks of 16 x 16 threads (Warped-Slicer,
// table II), and four launches.
#include <algorithm>
#include <utility>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace hotspot {

constexpr std::int32_t kTile = 16;
constexpr std::int32_t kStepsALaunch = 2;
constexpr float kAmbient = 80;
constexpr float kStepTime = 1.46e-7F;

struct Chip {
  std::int32_t cells;  // on a side
  std::vector<float> power, temperature;
  float capacity, resist_x, resist_y, resist_z;  // values of a cell, and between it and its neighbours and the ambient
};

// A silicon die 16 mm wide and 0.5 mm thick, cut into square cells; the step is short enough for an explicit scheme.
Chip make_chip(std::int32_t cells) {
  constexpr double kWidth = 0.016, kThickness = 0.0005, kConductivity = 100, kHeatCapacity = 0.5 * 1.75e6;  // SI
  const double area = (kWidth / cells) * (kWidth / cells);
  Random random(0x407);
  const std::size_t count = static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells);
  Chip chip{cells, {}, {}, 0, 0, 0, 0};
  chip.power = uniform_floats(random, count, 0, 0.5F);
  chip.temperature = uniform_floats(random, count, 320, 345);
  chip.capacity = static_cast<float>(kHeatCapacity * kThickness * area);
  chip.resist_x = chip.resist_y = static_cast<float>(1 / (2 * kConductivity * kThickness));
  chip.resist_z = static_cast<float>(kThickness / (kConductivity * area));
  return chip;
}

// One step of the whole chip.
std::vector<double> step(const Chip& chip, const std::vector<double>& t) {
  const auto n = static_cast<std::size_t>(chip.cells);
  std::vector<double> next(t.size());
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t i = y * n + x;
      const double north = t[y == 0 ? i : i - n], south = t[y == n - 1 ? i : i + n];
      const double west = t[x == 0 ? i : i - 1], east = t[x == n - 1 ? i : i + 1];
      const double flow = chip.power[i] + (north + south - 2 * t[i]) / chip.resist_y +
                          (east + west - 2 * t[i]) / chip.resist_x + (kAmbient - t[i]) / chip.resist_z;
      next[i] = t[i] + kStepTime / chip.capacity * flow;
    }
  return next;
}

Case make(Size size) {
  Chip chip = make_chip(at(size, 100, 512, 1024));
  const std::int32_t steps = at(size, 5, 5, 8);

  Case c;
  gpu::Application& app = c.application;
  const auto power_id = app.add("power", chip.power);
  auto before = app.add("temperature", chip.temperature);
  auto after = app.add_uninitialized("temperature after", chip.temperature.size() * sizeof(float));
  app.upload(power_id);
  app.upload(before);
  for (std::int32_t done = 0; done < steps; done += kStepsALaunch) {
    const std::int32_t now = std::min(kStepsALaunch, steps - done);
    const std::uint32_t blocks = blocks_for(chip.cells, kTile - 2 * now);
    app.launch({"hotspot",
                {blocks, blocks},
                {kTile, kTile},
                arguments(power_id, before, after, chip.cells, now, kStepTime, chip.capacity, chip.resist_x,
                          chip.resist_y, chip.resist_z, kAmbient)});
    std::swap(before, after);
  }
  app.download(before);

  c.reference = [chip = std::move(chip), steps, result = before](Case& out) {
    std::vector<double> t(chip.temperature.begin(), chip.temperature.end());
    for (std::int32_t i = 0; i < steps; ++i) t = step(chip, t);
    // Near 340 a rounding is 2^-16; a step has one in the new value and, scaled by 0.14, four in sums twice as large.
    out.expect(result, std::vector<float>(t.begin(), t.end()), steps * 2.2 * 0x1p-16);
  };
  return c;
}

}  // namespace hotspot

Benchmark benchmark_hotspot() {
  return {.name = "hotspot",
          .about = "heat spreading on a chip, several time steps a launch in shared memory",
          .suite = "Rodinia",
          .aliases = {"HOT", "HS"},
          .kernels = {{"hotspot", "hotspot"}},
          .make = hotspot::make};
}

}  // namespace wm::zoo
