#include "exec/run.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>

#include "exec/image.h"
#include "exec/parallel_blocks.h"
#include "exec/sm_numbers.h"

namespace wm::exec {

namespace {

// The processor time of this thread only: other threads may run other applications.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// A block that executes many accesses of the kind found in spin loops may wait for a block that has not begun. Blocks
// then run in turns, up to a number above what any device holds, or up to a memory limit.
// Blocks of a cooperative launch wait for all others at every grid barrier, so their turns are short.
constexpr std::uint64_t kCooperativeTurn = 1U << 10;
constexpr std::uint64_t kInstructionsPerSpin = 64;  // a turn with more accesses than this was spent waiting
constexpr std::uint64_t kMaxResident = 4096;
constexpr std::uint64_t kResidentBytes = 256U << 20;

std::uint64_t max_resident_blocks(const Grid& grid) {
  return std::clamp<std::uint64_t>(kResidentBytes / std::max<std::uint64_t>(grid.block_bytes(), 1), 1, kMaxResident);
}

Fault over_limit(const Grid& grid, std::uint64_t limit, const std::deque<std::unique_ptr<Block>>& resident) {
  Fault fault;
  fault.kind = Fault::Kind::instruction_limit;
  fault.kernel = grid.program->kernel;
  fault.what = fmt::format("not done after {} warp instructions", limit);
  for (const auto& block : resident) {
    auto positions = block->positions();
    std::move(positions.begin(), positions.end(), std::back_inserter(fault.warps));
  }
  return fault;
}

}  // namespace

LaunchResult run_launch(const Grid& grid, const RunOptions& options) {
  if (options.threads != 0 && blocks_are_independent(*grid.program)) return run_blocks_in_parallel(grid, options);
  const std::uint64_t count = grid.blocks.count();
  const std::uint64_t limit =
      options.max_instructions != 0 ? options.max_instructions : std::numeric_limits<std::uint64_t>::max();
  LaunchResult result;
  std::deque<std::unique_ptr<Block>> resident;
  std::vector<std::unique_ptr<Block>> spare;
  std::uint64_t next = 0;
  std::uint64_t spent = 0;
  bool rotate = true;  // another block has its turn
  const std::uint64_t max_resident = max_resident_blocks(grid);
  const std::uint64_t turn = grid.workspace != 0 ? kCooperativeTurn : kBlockTurn;
  while (next < count || !resident.empty()) {
    if (rotate && next < count && resident.size() < max_resident) {
      if (spare.empty()) spare.push_back(std::make_unique<Block>());
      resident.push_front(std::move(spare.back()));
      spare.pop_back();
      resident.front()->start(grid, grid.block_index(next), sm_numbers_of(next, options.sms));
      ++next;
    }
    Block& block = *resident.front();
    const std::uint64_t spins = block.spins();
    spent += block.run(std::min(turn, limit - spent));
    if (options.on_turn) options.on_turn();
    rotate = block.done() || block.spins() - spins >= turn / kInstructionsPerSpin;
    if (block.fault()) {
      result.fault = block.fault();
    } else if (!block.done() && (spent >= limit || (options.is_stopped && options.is_stopped()))) {
      result.fault = over_limit(grid, limit, resident);
    } else if (!block.done()) {
      if (rotate) std::rotate(resident.begin(), resident.begin() + 1, resident.end());
      continue;
    }
    if (result.fault) break;
    result.statistics += block.statistics();
    spare.push_back(std::move(resident.front()));
    resident.pop_front();
    if (options.on_block) options.on_block();
  }
  for (const auto& block : resident) result.statistics += block->statistics();
  return result;
}

namespace {

// An application's memory and kernels while its steps run.
class Running {
 public:
  Running(const ptx::Module& module, const gpu::Application& application, const RunOptions& options,
          const std::string& file)
      : module_(module), application_(application), options_(options), file_(file), memory_(options.max_memory) {}

  Result<ApplicationResult> run() {
    if (auto begun = begin(); !begun) return begun.error();
    const auto launches = static_cast<std::size_t>(
        std::count_if(application_.steps.begin(), application_.steps.end(),
                      [](const gpu::Step& s) { return std::holds_alternative<gpu::Launch>(s); }));
    for (const gpu::Step& step : application_.steps) {
      auto done = std::visit([&](const auto& s) { return perform(s); }, step);
      if (!done) return done.error();
      if (options_.progress && std::holds_alternative<gpu::Launch>(step))
        options_.progress(result_.launches.size(), launches);
    }
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
      auto& content = result_.buffers.emplace_back(application_.buffers[i].bytes);
      if (auto read = memory_.read(addresses_[i], content.data(), content.size()); !read) return read.error();
    }
    return std::move(result_);
  }

 private:
  Result<void> begin() {
    for (const gpu::Buffer& buffer : application_.buffers) {
      auto address = memory_.allocate(buffer.bytes, buffer.name);
      if (!address) return address.error();
      addresses_.push_back(*address);
    }
    auto image = Image::load(module_, memory_);
    if (!image) return image.error();
    image_ = std::move(*image);
    return image_.write(application_.variables, memory_);
  }

  Result<void> in_buffer(gpu::BufferId id, std::size_t offset, std::size_t bytes, const char* what) const {
    if (id.index >= application_.buffers.size())
      return Error{fmt::format("{} names buffer {} of {}", what, id.index, application_.buffers.size())};
    const gpu::Buffer& buffer = application_.buffers[id.index];
    if (offset > buffer.bytes || bytes > buffer.bytes - offset)
      return Error{fmt::format("{} of {} bytes at {} is outside of buffer '{}' of {} bytes", what, bytes, offset,
                               buffer.name, buffer.bytes)};
    return {};
  }

  Result<void> perform(const gpu::Transfer& t) {
    if (auto inside = in_buffer(t.buffer, t.offset, t.bytes, "a transfer"); !inside) return inside.error();
    if (t.direction == gpu::Transfer::Direction::to_host) return {};  // buffers are read at the end
    const auto& initial = application_.buffers[t.buffer.index].initial;
    if (t.offset >= initial.size()) return {};
    const std::size_t bytes = std::min(t.bytes, initial.size() - t.offset);
    return memory_.write(addresses_[t.buffer.index] + t.offset, initial.data() + t.offset, bytes);
  }

  Result<void> perform(const gpu::Fill& f) {
    if (auto inside = in_buffer(f.buffer, f.offset, f.bytes, "a fill"); !inside) return inside.error();
    return memory_.fill(addresses_[f.buffer.index] + f.offset, f.value, f.bytes);
  }

  Result<void> perform(const gpu::Launch& launch) {
    auto [at, fresh] = kernels_.try_emplace(launch.kernel);
    Kernel& kernel = at->second;
    if (fresh) {
      auto program = decode(module_, launch.kernel, file_);
      if (!program) return program.error();
      auto constants = image_.link(**program);
      if (!constants) return constants.error();
      kernel = {*program, *constants};
    }
    auto grid = make_grid(kernel.program, kernel.constants, memory_, launch, addresses_);
    if (!grid) return grid.error();
    grid->id = result_.launches.size() + 1;
    grid->print = options_.print;
    const double start = thread_seconds();
    LaunchResult run = run_launch(*grid, options_);
    const double seconds = thread_seconds() - start;
    if (run.fault) {
      if (options_.on_fault) options_.on_fault(*run.fault);
      return Error{run.fault->to_string()};
    }
    result_.launches.push_back({launch.kernel, run.statistics, seconds});
    return {};
  }

  struct Kernel {
    std::shared_ptr<const Program> program;
    std::shared_ptr<const Constants> constants;
  };

  const ptx::Module& module_;
  const gpu::Application& application_;
  const RunOptions& options_;
  const std::string& file_;
  AddressSpace memory_;
  Image image_;
  std::vector<std::uint64_t> addresses_;
  std::map<std::string, Kernel> kernels_;
  ApplicationResult result_;
};

}  // namespace

Result<ApplicationResult> run_application(const ptx::Module& module, const gpu::Application& application,
                                          const RunOptions& options, const std::string& file) {
  return Running(module, application, options, file).run();
}

}  // namespace wm::exec
