#include "exec/parallel_blocks.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "exec/block.h"
#include "exec/global_port.h"

namespace wm::exec {

namespace {

constexpr std::uint64_t kBatch = 64;
constexpr std::uint64_t kBatchBytes = std::uint64_t{2} << 30;  // blocks with much local memory run in smaller batches

struct BatchBlock {
  Block block;
  GlobalPort port;
  std::uint64_t spent = 0;
};

// Runs body(0) to body(count - 1) on up to `threads` threads.
template <typename Body>
void on_threads(std::uint32_t threads, std::size_t count, Body&& body) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::thread> others;
  for (std::uint32_t t = 1; t < std::min<std::size_t>(threads, count); ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

// Runs a block to its end, to the limit of instructions, or until the launch is stopped.
std::uint64_t run_block(Block& block, std::uint64_t limit, const RunOptions& options) {
  if (!options.is_stopped) return block.run(limit);
  std::uint64_t spent = 0;
  while (!block.done() && !block.fault() && spent < limit && !options.is_stopped())
    spent += block.run(std::min(kBlockTurn, limit - spent));
  return spent;
}

Fault over_limit(const Grid& grid, std::uint64_t limit, const Block& block) {
  Fault fault;
  fault.kind = Fault::Kind::instruction_limit;
  fault.kernel = grid.program->kernel;
  fault.what = fmt::format("not done after {} warp instructions", limit);
  fault.warps = block.positions();
  return fault;
}

}  // namespace

bool blocks_are_independent(const Program& program) {
  const auto communicates = [](const Op& op) {
    return op.kind == Kind::atomic || op.kind == Kind::reduction || op.kind == Kind::surface_reduction ||
           (op.memory.spins && op.kind != Kind::mbarrier);
  };
  const auto keeps_state = [](const ProgramFunction& f) {
    return f.builtin == ProgramFunction::Builtin::malloc || f.builtin == ProgramFunction::Builtin::free;
  };
  return std::none_of(program.code.begin(), program.code.end(), communicates) &&
         std::none_of(program.functions.begin(), program.functions.end(), keeps_state);
}

std::uint64_t blocks_in_a_batch(const Grid& grid) {
  return std::clamp<std::uint64_t>(kBatchBytes / std::max<std::uint64_t>(grid.block_bytes(), 1), 1, kBatch);
}

LaunchResult run_blocks_in_parallel(const Grid& grid, const RunOptions& options) {
  const std::uint64_t count = grid.blocks.count();
  const std::uint64_t limit =
      options.max_instructions != 0 ? options.max_instructions : std::numeric_limits<std::uint64_t>::max();
  std::vector<std::unique_ptr<BatchBlock>> batch_blocks;
  for (std::size_t i = 0; i < std::min(blocks_in_a_batch(grid), count); ++i) {
    batch_blocks.push_back(std::make_unique<BatchBlock>());
    batch_blocks.back()->block.port = &batch_blocks.back()->port;
  }
  LaunchResult result;
  std::uint64_t spent = 0;
  for (std::uint64_t first = 0; first < count; first += batch_blocks.size()) {
    const auto batch = static_cast<std::size_t>(std::min<std::uint64_t>(batch_blocks.size(), count - first));
    on_threads(options.threads, batch, [&](std::size_t i) {
      BatchBlock& entry = *batch_blocks[i];
      entry.block.start(grid, grid.block_index(first + i));
      entry.spent = run_block(entry.block, limit - spent, options);
    });
    for (std::size_t i = 0; i < batch; ++i) {
      BatchBlock& entry = *batch_blocks[i];
      entry.port.publish();
      spent += entry.spent;
      result.statistics += entry.block.statistics();
      if (entry.block.fault()) result.fault = entry.block.fault();
      if (!result.fault && (!entry.block.done() || spent > limit)) result.fault = over_limit(grid, limit, entry.block);
      if (result.fault) return result;
      if (options.on_block) options.on_block();
    }
  }
  return result;
}

}  // namespace wm::exec
