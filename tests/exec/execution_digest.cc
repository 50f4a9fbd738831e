#include "exec/execution_digest.h"

#include <bit>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>

#include "exec/block.h"
#include "exec/global_port.h"
#include "exec/run.h"
#include "tree.h"

namespace wm::exec::test {
namespace {

constexpr std::uint64_t kInstructions = 3000;
constexpr std::uint32_t kThreads = 48;  // a warp and a half
constexpr std::uint64_t kBufferBytes = 16U << 10;
constexpr std::uint32_t kLargest = 64U << 10;  // shared or local memory that is still quick to fill

void add_passed(Digest& digest, const std::vector<Passed>& list) {
  digest.add(list.size());
  for (const Passed& p : list) digest.add(p.offset, p.bytes, p.row.value, p.in_register);
}

void add_op(Digest& digest, const Program& program, std::uint32_t pc) {
  const Op& op = program.code[pc];
  const Memory& m = op.memory;
  const Operands& o = op.operands;
  digest.add(op.kind, op.mode, op.unit, op.guard.value, op.guard_negated, op.reads_clock, op.synchronous, op.timeless,
             op.shaped, op.target, op.targets, op.reconverge);
  digest.add(m.base.value, m.base_bytes, m.space, m.bytes, m.count, m.row_bytes, m.sign_extend, m.spins, m.uniform,
             m.type, m.offset);
  for (const RegisterRow row : o.destination) digest.add(row.value);
  for (const RegisterRow row : o.source) digest.add(row.value);
  for (const RegisterRow row : o.more) digest.add(row.value);
  for (const bool negated : o.negated) digest.add(negated);
  digest.add(o.immediate, program.info[pc].function);
  digest.add_text(program.info[pc].text);
  digest.add_text(program.place(pc).to_string());
  digest.add_all(program.reads(pc));
  digest.add_all(program.writes(pc));
}

void add_function(Digest& digest, const ProgramFunction& f) {
  digest.add_text(f.name);
  digest.add(f.builtin, f.entry, f.end, f.row_bytes, f.parameter_bytes, f.local_bytes, f.module_index);
  add_passed(digest, f.parameters);
  add_passed(digest, f.results);
  for (const SetupRow& row : f.setup) digest.add(row.kind, row.bytes, row.special, row.destination.value, row.value);
}

void add_listing(Digest& digest, const Program& p) {
  for (std::uint32_t pc = 0; pc < p.code.size(); ++pc) add_op(digest, p, pc);
  for (const ProgramFunction& f : p.functions) add_function(digest, f);
  for (const CallSite& site : p.calls) {
    add_passed(digest, site.arguments);
    add_passed(digest, site.results);
    digest.add_all<std::uint32_t>(site.allowed);
  }
  for (const KernelParameter& k : p.parameters) {
    digest.add_text(k.name);
    digest.add(k.offset, k.bytes, k.pointer, k.pointer_space);
  }
  for (const PoolRelocation& r : p.relocations) digest.add(r.row, r.bytes, r.variable, r.addend);
  for (const TilePlaces& tile : p.tiles)
    for (const TilePlaces::Place& place : tile.places) digest.add(place.row, place.column);
  digest.add_all<std::byte>(p.constants);
  digest.add_all<std::uint32_t>(p.branch_targets);
  digest.add(p.register_count, p.parameter_bytes, p.static_shared_bytes, p.reads_reserved_shared, p.local_bytes);
  for (const std::uint32_t extent : p.required_block) digest.add(extent);
  for (const std::uint32_t extent : p.largest_block) digest.add(extent);
}

// A kernel with memory of its own: buffers of small numbers and of floats in turn for its pointers, small numbers for
// its other parameters.
class Launched {
 public:
  Launched(const ptx::Module& module, std::shared_ptr<const Program> program) : program_(std::move(program)) {
    std::vector<std::uint64_t> buffers;
    for (std::size_t i = 0; i < 2; ++i) buffers.push_back(make_buffer(i));
    auto image = Image::load(module, memory_);
    if (!image) {
      error_ = image.error().to_string();
      return;
    }
    auto constants = image->link(*program_);
    if (!constants) {
      error_ = constants.error().to_string();
      return;
    }
    auto grid = make_grid(program_, *constants, memory_, launch(), buffers);
    if (!grid) {
      error_ = grid.error().to_string();
      return;
    }
    grid_ = std::move(*grid);
    grid_.print = [this](std::string_view text) { printed_ += text; };
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  [[nodiscard]] const std::string& error() const { return error_; }  // empty: the grid can run
  [[nodiscard]] const Grid& grid() const { return grid_; }

  void add_memory(Digest& digest) {
    for (const std::uint64_t at : buffers_) {
      std::vector<std::uint64_t> words(kBufferBytes / 8);
      (void)memory_.read(at, reinterpret_cast<std::byte*>(words.data()), kBufferBytes);
      digest.add_all<std::uint64_t>(words);
    }
    digest.add_text(printed_);
  }

 private:
  std::uint64_t make_buffer(std::size_t number) {
    const std::uint64_t at = *memory_.allocate(kBufferBytes, "buffer" + std::to_string(number));
    for (std::uint32_t i = 0; i < kBufferBytes / 4; ++i) {
      const std::uint32_t small = i * 7 % 61;
      const auto real = std::bit_cast<std::uint32_t>((static_cast<float>(small) - 30) / 8);
      const std::uint32_t word = number == 0 ? small : real;
      (void)memory_.write(at + std::uint64_t{i} * 4, reinterpret_cast<const std::byte*>(&word), 4);
    }
    buffers_.push_back(at);
    return at;
  }

  [[nodiscard]] gpu::Launch launch() const {
    gpu::Launch made{program_->kernel, {2, 1, 1}, {kThreads, 1, 1}, {}, 256};
    std::uint32_t pointers = 0;
    for (const KernelParameter& p : program_->parameters) {
      if (p.bytes == 8 && p.pointer_space == ptx::Space::shared) {
        made.arguments.emplace_back(gpu::LocalMemory{256});
      } else if (p.bytes == 8) {
        made.arguments.push_back(gpu::buffer({pointers++ % 2}));
      } else {
        std::vector<std::byte> bytes(p.bytes);
        for (std::size_t i = 0; i < bytes.size(); i += 4) bytes[i] = static_cast<std::byte>(5 + i / 4);
        made.arguments.emplace_back(gpu::Scalar{bytes});
      }
    }
    return made;
  }

  std::shared_ptr<const Program> program_;
  AddressSpace memory_{64U << 20};
  std::vector<std::uint64_t> buffers_;
  Grid grid_;
  std::string printed_;
  std::string error_;
};

void add_access(Digest& digest, const Access& access) {
  digest.add(access.space, access.bytes, access.lanes);
  for (Mask m = access.lanes; m != 0; m &= m - 1)
    digest.add(access.address[static_cast<std::size_t>(std::countr_zero(m))]);
}

// Steps block 1 of the grid, one warp after the other.
void add_steps(Digest& digest, const Grid& grid) {
  Block block;
  block.start(grid, {1, 0, 0}, {3, 5});
  Step step;
  Access next;
  for (std::uint64_t spent = 0; spent < kInstructions && !block.done() && !block.fault(); ++spent) {
    block.clock = spent * 10;
    block.timer = spent * 7;
    bool any = false;
    for (std::uint32_t w = 0; w < block.warps() && !block.fault(); ++w) {
      if (!block.warp(w).ready()) continue;
      any = true;
      if (block.warp(w).peek(next)) add_access(digest, next);
      block.step(w, step);
      digest.add(step.pc, step.path, step.active, step.executed, step.memory, step.divergent, step.at_barrier,
                 step.exited);
      if (step.memory) add_access(digest, *step.access);
    }
    if (!any) block.unblock();
  }
  digest.add(block.spins());
  if (block.fault()) digest.add_text(block.fault()->to_string());
  for (const WarpPosition& position : block.positions()) digest.add_text(position.to_string());
}

std::uint32_t note_lanes(const Access& access, std::uint32_t argument) {
  return static_cast<std::uint32_t>(std::popcount(access.lanes)) * 64 + access.bytes + argument +
         static_cast<std::uint32_t>(access.address[static_cast<std::size_t>(std::countr_zero(access.lanes))] << 12);
}

// Runs block 0 of the grid as a simulator does: ahead of time where that makes no difference, otherwise step by step,
// with stores that a port holds back and atomics that it hands out.
void add_ported(Digest& digest, const Grid& grid) {
  constexpr std::uint32_t kAhead = 24;
  GlobalPort port;
  Block block;
  block.port = &port;
  block.start(grid, {0, 0, 0}, {1, 2});
  Step step;
  Executed list[kAhead];
  for (std::uint64_t spent = 0; spent < kInstructions && !block.done() && !block.fault(); ++spent) {
    bool any = false;
    for (std::uint32_t w = 0; w < block.warps() && !block.fault(); ++w) {
      const std::uint32_t count = block.warp(w).ready() ? block.warp(w).run_ahead(list, kAhead, {note_lanes, w}) : 0;
      for (const Executed& e : std::span(list, count))
        digest.add(std::uint32_t{e.pc}, std::uint32_t{e.lanes},
                   grid.program->code[e.pc].memory.space == ptx::Space::shared ? e.note : 0U);
      any = any || count != 0;
      if (count == kAhead || block.fault() || !block.warp(w).ready()) continue;
      any = true;
      block.step(w, step);
      digest.add(step.pc, step.active);
      if (PendingAtomic* atomic = port.take_atomic()) {
        port.publish();
        for (Mask m = atomic->lanes; m != 0; m &= m - 1)
          digest.add(atomic->address[static_cast<std::size_t>(std::countr_zero(m))]);
        atomic->apply(0x0000ffffU);
        atomic->apply(0xffff0000U);
        atomic->complete();
        port.recycle(atomic);
      }
    }
    if (!any) block.unblock();
  }
  port.publish();
  digest.add(block.statistics().thread_instructions);
  if (block.fault()) digest.add_text(block.fault()->to_string());
}

const std::map<std::string, std::string>& golden_rows() {
  static const std::map<std::string, std::string> kRows = [] {
    std::map<std::string, std::string> rows;
    std::ifstream file(source_path("tests/exec/golden_execution.csv"));
    for (std::string line; std::getline(file, line);) {
      const auto comma = line.find(',');
      if (!line.starts_with('#') && comma != std::string::npos) rows[line.substr(0, comma)] = line.substr(comma + 1);
    }
    return rows;
  }();
  return kRows;
}

}  // namespace

std::string Digest::hex() const { return fmt::format("{:016x}", hash_); }

std::string executed(const ptx::Module& module, const std::string& kernel, Digest& digest) {
  const auto program = decode(module, kernel, "input");
  if (!program) {
    digest.add_text(program.error().to_string());
    return "0,0,0,refused";
  }
  add_listing(digest, **program);
  const std::string size = fmt::format("{},{}", (*program)->code.size(), (*program)->functions[0].row_bytes);
  if ((*program)->static_shared_bytes > kLargest || (*program)->local_bytes > kLargest) return size + ",0,too large";

  std::string row;
  for (const std::uint32_t threads : {0U, 2U}) {
    Launched run(module, *program);
    digest.add_text(run.error());
    if (!run.error().empty()) return size + ",0,not launched";
    const std::vector<std::uint32_t> sms{4, 9};
    RunOptions options;
    options.max_instructions = kInstructions;
    options.threads = threads;
    options.sms = &sms;
    const LaunchResult result = run_launch(run.grid(), options);
    // Blocks beside each other stop at different places once one of them has stopped.
    if (threads != 0 && result.fault) break;
    const LaunchStatistics& s = result.statistics;
    digest.add(s.blocks, s.warp_instructions, s.thread_instructions);
    digest.add_all<std::uint64_t>(s.by_class);
    if (result.fault) digest.add_text(result.fault->to_string());
    run.add_memory(digest);
    if (threads == 0)
      row = fmt::format("{},{},{}", size, s.warp_instructions,
                        result.fault ? fmt::format("fault {}", static_cast<int>(result.fault->kind)) : "ended");
  }
  Launched stepped(module, *program), ported(module, *program);
  add_steps(digest, stepped.grid());
  stepped.add_memory(digest);
  add_ported(digest, ported.grid());
  ported.add_memory(digest);
  return row;
}

void expect_row(const std::string& name, const std::string& row) {
#if defined(__SANITIZE_THREAD__)  // device memory has other addresses
  return;
#endif
  if (std::getenv("WM_GOLDEN_EXECUTION") != nullptr) fmt::print("{},{}\n", name, row);
  const auto expected = golden_rows().find(name);
  EXPECT_EQ(row, expected == golden_rows().end() ? "no row" : expected->second) << name;
}

}  // namespace wm::exec::test
