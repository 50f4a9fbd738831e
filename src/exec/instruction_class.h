// The classes of instructions that statistics and execution units distinguish.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ptx/ir.h"

namespace wm::exec {

enum class Class : std::uint8_t {
  integer,  // integer arithmetic, logic, comparison, selection
  fp32,
  fp64,
  fp16,              // f16, bf16, single and packed
  special_function,  // rcp, sqrt, sin, … and their like
  tensor,            // mma
  conversion,
  move,
  load,
  store,
  atomic,
  branch,    // branches, calls, returns, exit
  barrier,   // barriers of blocks and warps
  exchange,  // shfl, vote, match, redux
  other,     // fences, prefetches, nanosleep, …
};
inline constexpr std::size_t kClasses = 15;

[[nodiscard]] std::string_view name(Class c);
[[nodiscard]] Class classify(const ptx::Instruction& instruction);

}  // namespace wm::exec
