// Shared-memory reads with bank conflicts of degree 1 to 32, a launch for each. Unsigned sums: exact.
#include <string>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace smem {

constexpr std::uint32_t kBlock = 256;
constexpr std::uint32_t kWords = 4096;
constexpr std::uint32_t kReadsARound = 8;
constexpr std::uint32_t kStrides[] = {1, 2, 4, 8, 16, 32};

struct Shape {
  std::uint32_t blocks;
  std::uint32_t rounds;
};

// The sum that thread `thread` of any block computes.
std::uint32_t walk(std::uint32_t thread, std::uint32_t stride, std::uint32_t rounds) {
  std::uint32_t total = 0;
  for (std::uint32_t read = 0; read < rounds * kReadsARound; ++read)
    total += (thread * stride + read * 32) % kWords * 2654435761U;
  return total;
}

Case make(Size size) {
  const auto s = at(size, Shape{8, 8}, Shape{64, 48}, Shape{128, 64});
  const std::uint32_t threads = s.blocks * kBlock;
  Case c;
  gpu::Application& app = c.application;
  for (const std::uint32_t stride : kStrides) {
    const auto sum_id = app.add_uninitialized("sum by " + std::to_string(stride), threads * sizeof(std::uint32_t));
    app.launch(
        {.kernel = "smem", .grid = {s.blocks}, .block = {kBlock}, .arguments = arguments(sum_id, stride, s.rounds)});
    app.download(sum_id);
    std::vector<std::uint32_t> sum;
    for (std::uint32_t t = 0; t < kBlock; ++t) sum.push_back(walk(t, stride, s.rounds));
    while (sum.size() < threads) sum.push_back(sum[sum.size() - kBlock]);
    c.expect(sum_id, sum);
  }
  return c;
}

}  // namespace smem

Benchmark benchmark_smem() {
  return {.name = "smem",
          .about = "reads shared memory with strides 1 to 32: bank conflicts of known degree, a launch for each",
          .suite = "micro",
          .aliases = {},
          .kernels = {{"smem", "smem"}},
          .make = smem::make};
}

}  // namespace wm::zoo
