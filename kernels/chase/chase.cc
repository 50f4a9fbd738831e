// A pointer chase through a random cycle of memory lines, by one thread. The size chooses the level it measures: small
// stays in an L1 of 16 KB (8 KiB, 127 times round), medium in an L2 of 768 KB but not in an L1 of 256 KB (512 KiB, 16
// times round), large in DRAM (65,536 lines of 128 MiB, none twice).
#include <numeric>
#include <utility>

#include "kernels/inputs.h"

namespace wm::zoo {

namespace chase {

constexpr std::uint32_t kLineWords = 32;  // 128 bytes
constexpr std::uint32_t kHopsARound = 16;

struct Shape {
  std::uint32_t lines;
  std::uint32_t rounds;
};

// One cycle through all lines in random order (Sattolo's shuffle); only a line's first word is ever read.
std::vector<std::uint32_t> random_cycle(Random& random, std::uint32_t lines) {
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = lines - 1; i > 0; --i) std::swap(order[i], order[random.below(i)]);
  std::vector<std::uint32_t> next(std::size_t{lines} * kLineWords);
  for (std::uint32_t line = 0; line < lines; ++line) next[std::size_t{line} * kLineWords] = order[line] * kLineWords;
  return next;
}

Case make(Size size) {
  // A whole number of cycles would end where it began, so the count is not a multiple of the cycle's length.
  const auto s = at(size, Shape{64, 509}, Shape{4096, 4093}, Shape{1U << 20U, 1U << 12U});
  Random random(4);
  const auto next = random_cycle(random, s.lines);
  std::uint32_t stop = 0;
  for (std::uint32_t hop = 0; hop < s.rounds * kHopsARound; ++hop) stop = next[stop];

  Case c;
  gpu::Application& app = c.application;
  const auto next_id = app.add("next", next);
  const auto last_id = app.add_uninitialized("last", sizeof(std::uint32_t));
  app.upload(next_id);
  app.launch(
      {.kernel = "chase", .grid = {1}, .block = {1}, .arguments = arguments(next_id, last_id, kLineWords, s.rounds)});
  app.download(last_id);
  c.expect(last_id, std::vector<std::uint32_t>{stop});
  return c;
}

}  // namespace chase

Benchmark benchmark_chase() {
  return {.name = "chase",
          .about = "follows a random cycle of lines with one thread: latency of L1 (small), L2 (medium), DRAM (large)",
          .suite = "micro",
          .aliases = {},
          .kernels = {{"chase", "chase"}},
          .make = chase::make};
}

}  // namespace wm::zoo
