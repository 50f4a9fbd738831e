#include "runtime/simulated/kernel_runner.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "exec/run.h"
#include "exec/sm_numbers.h"

namespace wm::runtime {

namespace {

constexpr std::uint64_t kTurn = 1U << 16;  // operations of a block between two looks at the memory's lock
constexpr std::uint64_t kBlocksPerThread = 4;

bool is_integer_reduction(const exec::Op& op) {
  using exec::Mode;
  if (op.kind != exec::Kind::reduction && op.kind != exec::Kind::surface_reduction) return false;
  switch (op.memory.type) {
    case ptx::Type::f16:
    case ptx::Type::bf16:
    case ptx::Type::f16x2:
    case ptx::Type::bf16x2:
    case ptx::Type::f32:
    case ptx::Type::f64:
      return false;
    default:
      return op.mode == Mode::add || op.mode == Mode::min || op.mode == Mode::max || op.mode == Mode::and_ ||
             op.mode == Mode::or_ || op.mode == Mode::xor_;
  }
}

bool may_reach_other_blocks(const exec::Op& op) {
  return op.memory.space == ptx::Space::global || op.memory.space == ptx::Space::generic;
}

// Blocks of one launch, handed out in order to any number of threads.
class ParallelBlocks {
 public:
  ParallelBlocks(const exec::Grid& grid, const DeviceMemory& memory, const std::vector<std::uint32_t>* sms)
      : grid_(grid), memory_(memory), sms_(sms), count_(grid.blocks.count()), end_(count_) {}

  // Runs blocks until none is left. Among several faults the one of the first block counts, as in a sequential run.
  void work() {
    exec::Block block;
    exec::LaunchStatistics statistics;
    DeviceMemory::Reader reader(memory_);
    for (std::uint64_t n = next_++; n < end_.load(); n = next_++) {
      block.start(grid_, grid_.block_index(n), exec::sm_numbers_of(n, sms_));
      while (!block.done() && !block.fault()) {
        block.run(kTurn);
        reader.yield();
      }
      statistics += block.statistics();
      if (block.fault()) report(n, *block.fault());
    }
    const std::lock_guard lock(mutex_);
    result_.statistics += statistics;
  }

  KernelResult take_result() {
    if (!faults_.empty()) result_.fault = faults_.begin()->second;
    return std::move(result_);
  }

 private:
  void report(std::uint64_t block, const exec::Fault& fault) {
    const std::lock_guard lock(mutex_);
    faults_.emplace(block, fault);
    end_ = std::min(end_.load(), block);  // blocks before it may fault too, those behind it do not matter
  }

  const exec::Grid& grid_;
  const DeviceMemory& memory_;
  const std::vector<std::uint32_t>* const sms_;
  const std::uint64_t count_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> end_;
  std::mutex mutex_;
  std::map<std::uint64_t, exec::Fault> faults_;
  KernelResult result_;
};

class FunctionalRunner final : public KernelRunner {
 public:
  FunctionalRunner(DeviceMemory& memory, std::uint32_t threads, std::uint32_t sms)
      : memory_(memory), threads_(std::max(1U, threads)), all_sms_(sms) {
    std::iota(all_sms_.begin(), all_sms_.end(), 0U);
  }

  KernelResult run(const exec::Grid& grid, const LoadedKernel&, const StreamTerms& terms) override {
    exec::Grid locked = grid;
    locked.atomics = &atomics_;
    const auto threads =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(threads_, grid.blocks.count() / kBlocksPerThread));
    const std::vector<std::uint32_t>* const sms = terms.sms != nullptr ? terms.sms.get() : &all_sms_;
    if (threads < 2 || !independent_of_block_order(*grid.program)) return run_in_order(locked, sms);
    ParallelBlocks blocks(locked, memory_, sms);
    std::vector<std::thread> helpers;
    for (std::uint32_t i = 1; i < threads; ++i) helpers.emplace_back([&] { blocks.work(); });
    blocks.work();
    for (std::thread& helper : helpers) helper.join();
    return blocks.take_result();
  }

 private:
  KernelResult run_in_order(const exec::Grid& grid, const std::vector<std::uint32_t>* sms) {
    DeviceMemory::Reader reader(memory_);
    exec::RunOptions options;
    options.sms = sms;
    options.on_turn = [&] { reader.yield(); };
    auto done = exec::run_launch(grid, options);
    return {.statistics = done.statistics, .fault = std::move(done.fault)};
  }

  DeviceMemory& memory_;
  const std::uint32_t threads_;
  std::vector<std::uint32_t> all_sms_;
  std::mutex atomics_;  // shared by all launches: kernels of several streams may update the same words
};

}  // namespace

bool independent_of_block_order(const exec::Program& program) {
  for (const exec::ProgramFunction& function : program.functions) {
    if (function.builtin != exec::ProgramFunction::Builtin::none)
      return false;  // output appears in the order of blocks
  }
  return std::all_of(program.code.begin(), program.code.end(), [](const exec::Op& op) {
    if (op.kind == exec::Kind::atomic) return !may_reach_other_blocks(op);
    if (op.kind == exec::Kind::reduction) return !may_reach_other_blocks(op) || is_integer_reduction(op);
    if (op.kind == exec::Kind::load || op.kind == exec::Kind::store)
      return !(op.memory.spins && may_reach_other_blocks(op));
    return true;
  });
}

std::unique_ptr<KernelRunner> make_functional_runner(DeviceMemory& memory, std::uint32_t threads, std::uint32_t sms) {
  return std::make_unique<FunctionalRunner>(memory, threads, std::max(1U, sms));
}

}  // namespace wm::runtime
