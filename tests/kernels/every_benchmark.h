// Shared by the tests that run every benchmark: the list, the name of a test, the requested size.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/benchmark.h"

namespace wm::zoo {

inline std::vector<const Entry*> all_benchmarks() {
  std::vector<const Entry*> out;
  for (const Entry& e : entries()) out.push_back(&e);
  return out;
}

// mri_q: gtest allows no '-'.
inline std::string benchmark_name(const testing::TestParamInfo<const Entry*>& info) {
  std::string name = info.param->benchmark.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// WM_ZOO_SIZE=medium, large or short_blocks checks more than a quick run has time for.
inline Size size_asked_for() {
  const char* text = std::getenv("WM_ZOO_SIZE");
  const std::string_view name = text != nullptr ? text : "small";
  if (name == "short_blocks") return Size::short_blocks;
  return name == "large" ? Size::large : name == "medium" ? Size::medium : Size::small;
}

// Final contents as verify() takes them.
inline Contents contents_of(const std::vector<std::vector<std::byte>>& buffers) {
  return [&buffers](gpu::BufferId id) -> const std::vector<std::byte>& { return buffers[id.index]; };
}

}  // namespace wm::zoo
