// Any module that parses either runs, ends with a fault that has a text, or is refused: never anything else, and within
// the bounds it was given.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "exec/block.h"
#include "exec/run.h"
#include "line_mutator.h"
#include "ptx/parse.h"

namespace {

using namespace wm;

constexpr std::uint64_t kInstructions = 4000;
constexpr std::uint64_t kMemory = 1U << 20;
constexpr std::uint32_t kThreads = 48;         // a warp and a half
constexpr std::uint32_t kLargest = 64U << 10;  // shared or local memory that is still quick to fill

void require(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// A launch with a buffer for every 8-byte parameter and small numbers for the others.
gpu::Launch launch_of(const exec::Program& program) {
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

// Warps stepped in an order of chance, as a simulator would.
void step(const exec::Grid& grid, std::uint64_t seed) {
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

void run(const ptx::Module& module, const std::string& kernel, std::uint64_t seed) {
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = ptx::parse(text, "input");
  if (!module) return 0;
  for (const ptx::Function& function : module->functions)
    if (function.entry && !function.declaration) run(*module, function.name, size);
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

std::size_t put(const std::string& text, std::uint8_t* data, std::size_t most) {
  const std::size_t size = text.size() < most ? text.size() : most;
  std::memcpy(data, text.data(), size);
  return size;
}

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

// Bytes changed at random hardly ever parse; most mutations move lines.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string text(view(data, size));
  return put(wm::fuzz::LineMutator(text, seed).mutate(text), data, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b,
                                                 std::size_t b_size, std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
  return put(wm::fuzz::LineMutator(view(a, a_size), seed).mutate(view(b, b_size)), out, most);
}
