// Small things every benchmark's input generator needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "kernels/benchmark.h"

namespace wm::zoo {

// The value of a parameter at each size: `const auto n = at(size, 1024, 65536, 1 << 20);`
template <typename T>
constexpr T at(Size size, T small, T medium, T large) {
  return size == Size::small ? small : size == Size::medium ? medium : large;
}
template <typename T>
constexpr T at(Size size, T small, T medium, T large, T short_blocks) {
  return size == Size::short_blocks ? short_blocks : at(size, small, medium, large);
}

constexpr std::uint32_t blocks_for(std::uint64_t items, std::uint32_t per_block) {
  return static_cast<std::uint32_t>((items + per_block - 1) / per_block);
}

inline std::vector<float> uniform_floats(Random& random, std::size_t count, float low, float high) {
  std::vector<float> values(count);
  for (float& v : values) v = random.uniform(low, high);
  return values;
}

inline std::vector<std::uint32_t> uniform_integers(Random& random, std::size_t count, std::uint32_t bound) {
  std::vector<std::uint32_t> values(count);
  for (std::uint32_t& v : values) v = random.below(bound);
  return values;
}

// A kernel's arguments: `arguments(input, output, count)` passes buffers by their id and everything else by value.
template <typename... T>
std::vector<gpu::Argument> arguments(const T&... values) {
  std::vector<gpu::Argument> out;
  out.reserve(sizeof...(values));
  const auto add = [&out](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, gpu::BufferId>)
      out.push_back(gpu::buffer(value));
    else
      out.push_back(gpu::scalar(value));
  };
  (add(values), ...);
  return out;
}

}  // namespace wm::zoo
