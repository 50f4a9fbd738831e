// Reasons not to change when the blocks of a kernel run: the kernel waits for other blocks or grids, or calls functions
// that are not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptx/ir.h"

namespace wm::rewrite {

// The functions that a kernel calls, directly or not, and itself, by index in ascending order.
[[nodiscard]] std::vector<std::uint32_t> reachable_functions(const ptx::Module& module, std::uint32_t kernel);

// Clusters, other grids, barriers of the whole grid, and calls of unknown functions.
[[nodiscard]] std::optional<std::string> block_dependence(const ptx::Instruction& instruction);

// A directive that asks for clusters.
[[nodiscard]] std::optional<std::string> cluster_directive(const ptx::Function& kernel);

// A loop of the function, or its recursion, that may wait for another block: one that reads memory past the caches or
// takes a lock, itself or in a function that it calls.
[[nodiscard]] std::optional<std::string> waiting_loop(const ptx::Module& module, std::uint32_t function);

}  // namespace wm::rewrite
