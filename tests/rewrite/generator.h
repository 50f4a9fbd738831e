// Kernels made up from a seed, with everything the rewriter must keep: barriers in loops and uniform branches, early
// returns, local arrays and arguments, three dimensions, offsets, helpers, macros, atomics, kernels that call kernels.
//
// What they compute depends on every id they can ask for, and not on the order in which groups run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gpu/application.h"

namespace wm::rewrite {

struct Generated {
  std::string source;
  std::string options;
  gpu::Application application;
  std::array<std::size_t, 3> offset{0, 0, 0};  // of the launch, where a machine knows offsets
};

// What a machine does not take: clang's PTX has no calls of kernels, and the zoo's built-ins on PTX no fourth
// dimension.
struct Leave {
  bool kernel_calls = false;
  bool fourth_dimension = false;
};

Generated generate(std::uint64_t seed, Leave out = {});

}  // namespace wm::rewrite
