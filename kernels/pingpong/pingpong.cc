// Words that two halves of a block update in turns. Unsigned arithmetic: exact, and wrong as soon as a turn is lost.
#include "kernels/inputs.h"

namespace wm::zoo {

namespace pingpong {

constexpr std::uint32_t kPairs = 128;

struct Shape {
  std::uint32_t blocks;
  std::uint32_t rounds;
};

std::uint32_t play(std::uint32_t ball, std::uint32_t rounds) {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    ball = ball * 1664525U + 1013904223U;
    ball = (ball ^ (ball >> 13U)) + round;
  }
  return ball;
}

Case make(Size size) {
  const auto s = at(size, Shape{8, 100}, Shape{64, 400}, Shape{512, 400});
  Random random(5);
  const auto serve = uniform_integers(random, std::size_t{s.blocks} * kPairs, UINT32_MAX);
  std::vector<std::uint32_t> last;
  for (const std::uint32_t ball : serve) last.push_back(play(ball, s.rounds));

  Case c;
  gpu::Application& app = c.application;
  const auto serve_id = app.add("serve", serve);
  const auto last_id = app.add_uninitialized("last", last.size() * sizeof(std::uint32_t));
  app.upload(serve_id);
  app.launch({.kernel = "pingpong",
              .grid = {s.blocks},
              .block = {2 * kPairs},
              .arguments = arguments(serve_id, last_id, s.rounds)});
  app.download(last_id);
  c.expect(last_id, last);
  return c;
}

}  // namespace pingpong

Benchmark benchmark_pingpong() {
  return {.name = "pingpong",
          .about = "two halves of a block take turns on words in shared memory: barriers and little else",
          .suite = "micro",
          .aliases = {},
          .kernels = {{"pingpong", "pingpong"}},
          .make = pingpong::make};
}

}  // namespace wm::zoo
