// Kernels made up from a seed, with everything the rewriter must keep: barriers in loops and uniform branches, early
// returns, local arrays and arguments, three dimensions, offsets, helpers, macros, atomics, kernels that call kernels.
//
// Their results depend on every id they can read, and not on the order in which groups run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "gpu/application.h"

namespace wm::rewrite {

struct Generated {
  std::string source;
  std::string options;
  gpu::Application application;
  std::array<std::size_t, 3> offset{0, 0, 0};  // offset of the launch, where a machine supports offsets
};

// Features that a machine does not support: clang's PTX has no calls of kernels, and the zoo's built-ins on PTX have no
// fourth dimension.
struct Leave {
  bool kernel_calls = false;
  bool fourth_dimension = false;
};

// The parts one after the other, for generators. The elements of a list in braces are evaluated in order, the operands
// of
// `+` and the arguments of a call in any order: with those a seed would give another kernel with every compiler.
inline std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

Generated generate(std::uint64_t seed, Leave out = {});

// Kernels whose groups divide: some items work on one local array and the others on another, in the two branches of an
// `if` with loops inside and barriers around, as blocked matrix factorisations do.
Generated generate_divided(std::uint64_t seed, Leave out = {});

// Kernels with barriers in branches, loops and switches that depend on a group's data.
Generated generate_branching(std::uint64_t seed);

// The same with branches and cases without barriers beside those with barriers.
Generated generate_one_sided(std::uint64_t seed);

}  // namespace wm::rewrite
