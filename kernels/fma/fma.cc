// A loop of fused multiply-adds. fma rounds once, so host and device agree to the bit.
#include <cmath>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace fma {

constexpr std::uint32_t kBlock = 256;

struct Shape {
  std::uint32_t blocks;
  std::uint32_t rounds;
};

// A round maps x to ab x + (b^2 + a), ab just inside -1: values neither grow nor settle, so every round shows.
constexpr float kA = 1.25F;
constexpr float kB = -0.7998F;

float run(float start, std::uint32_t rounds) {
  float chain[4] = {start, start + 0.25F, start + 0.5F, start + 0.75F};
  for (float& value : chain)
    for (std::uint32_t round = 0; round < rounds; ++round) value = std::fma(std::fma(value, kA, kB), kB, kA);
  return (chain[0] + chain[1]) + (chain[2] + chain[3]);
}

Case make(Size size) {
  // At large a warp executes about 580 instructions.
  const auto s = at(size, Shape{16, 50}, Shape{320, 100}, Shape{640, 47});
  Random random(2);
  const auto start = uniform_floats(random, std::size_t{s.blocks} * kBlock, -1, 1);
  std::vector<float> result;
  for (const float x : start) result.push_back(run(x, s.rounds));

  Case c;
  gpu::Application& app = c.application;
  const auto start_id = app.add("start", start);
  const auto result_id = app.add_uninitialized("result", result.size() * sizeof(float));
  app.upload(start_id);
  app.launch({.kernel = "fma_loop",
              .grid = {s.blocks},
              .block = {kBlock},
              .arguments = arguments(start_id, result_id, kA, kB, s.rounds)});
  app.download(result_id);
  c.expect(result_id, result);
  return c;
}

}  // namespace fma

Benchmark benchmark_fma() {
  return {.name = "fma",
          .about = "four independent chains of fused multiply-adds a thread: only the arithmetic pipeline",
          .suite = "micro",
          .aliases = {},
          .kernels = {{"fma", "fma_loop"}},  // `fma` itself is a built-in function of OpenCL C
          .make = fma::make};
}

}  // namespace wm::zoo
