// Runs every kernel of a module within bounds: a small grid with small buffers, to its end, its fault or its limit.
// Used by the fuzzer for each input, and by the tests for the committed inputs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "exec/block.h"
#include "exec/run.h"
#include "ptx/parse.h"

namespace wm::fuzz {

inline constexpr std::uint64_t kInstructions = 4000;
inline constexpr std::uint64_t kMemory = 1U << 20;
inline constexpr std::uint32_t kThreads = 48;         // a warp and a half
inline constexpr std::uint32_t kLargest = 64U << 10;  // shared or local memory that is still quick to fill

inline void require(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// A launch with a buffer for every 8-byte parameter and small numbers for the others.
inline gpu::Launch launch_of(const exec::Program& program) {
  gpu::Launch launch{program.kernel, {2, 1, 1}, {kThreads, 1, 1}, {}, 256};
  for (const exec::KernelParameter& p : program.parameters) {
    if (p.bytes == 8 && p.pointer_space == ptx::Space::shared) {
      launch.arguments.emplace_back(gpu::LocalMemory{256});
    } else if (p.bytes == 8) {
      launch.arguments.push_back(gpu::buffer({0}));
    } else {
      launch.arguments.emplace_back(gpu::Scalar{std::vector<std::byte>(p.bytes, std::byte{3})});
    }
  }
  return launch;
}

// Steps warps in a random order, as a simulator may.
inline void step(const exec::Grid& grid, std::uint64_t seed) {
  Random random(seed);
  exec::Block block;
  block.start(grid, {0, 0, 0});
  exec::Step step;
  for (std::uint64_t spent = 0; spent < kInstructions && !block.done() && !block.fault(); ++spent) {
    const std::uint32_t start = random.below(block.warps());
    std::uint32_t tried = 0;
    while (tried < block.warps() && !block.warp((start + tried) % block.warps()).ready()) ++tried;
    if (tried == block.warps())
      block.unblock();
    else
      block.step((start + tried) % block.warps(), step);
  }
  if (block.fault()) require(!block.fault()->to_string().empty(), "a fault without a text");
}

inline void run(const ptx::Module& module, const std::string& kernel, std::uint64_t seed) {
  const auto program = exec::decode(module, kernel, "input");
  if (!program) return require(!program.error().to_string().empty(), "an error without a text");
  if ((*program)->static_shared_bytes > kLargest || (*program)->local_bytes > kLargest) return;

  exec::AddressSpace memory(kMemory);
  const auto buffer = memory.allocate(4096, "buffer");
  require(buffer.ok(), "no memory for a buffer");
  require(memory.fill(*buffer, std::byte{0}, 4096).ok(), "a fill failed");
  const auto image = exec::Image::load(module, memory);
  if (!image) return;
  const auto constants = image->link(**program);
  if (!constants) return;
  const std::vector<std::uint64_t> buffers{*buffer};
  auto grid = exec::make_grid(*program, *constants, memory, launch_of(**program), buffers);
  if (!grid) return;
  std::size_t printed = 0;
  grid->print = [&](std::string_view text) { printed += text.size(); };
  exec::RunOptions options;
  options.max_instructions = kInstructions;
  const exec::LaunchResult result = exec::run_launch(*grid, options);
  if (result.fault) require(!result.fault->to_string().empty(), "a fault without a text");
  require(result.statistics.warp_instructions <= kInstructions, "more instructions than the limit");
  step(*grid, seed);
}

// Accepts any text.
inline void run_bounded(std::string_view text) {
  const auto module = ptx::parse(text, "input");
  if (!module) return;
  for (const ptx::Function& function : module->functions)
    if (function.entry && !function.declaration) run(*module, function.name, text.size());
}

}  // namespace wm::fuzz
