#include "exec/warp.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "exec/block.h"
#include "exec/special.h"

namespace wm::exec {

namespace {

// Accesses of the kind found in spin loops (atomics, volatile loads) that one path of a diverged warp may execute
// before the other paths run.
constexpr std::uint32_t kSpins = 64;

}  // namespace

void Warp::start(Block& block, std::uint32_t index, std::byte* registers) {
  block_ = &block;
  grid_ = &block.grid();
  program_ = grid_->program.get();
  code_ = program_->code.data();
  index_ = index;
  turn_ = 0;
  yields_ = false;
  stack_.clear();
  shapes_ = {};
  const std::uint32_t threads = grid_->threads_per_block() - index * kLanes;
  const Mask lanes = threads >= kLanes ? kAllLanes : (Mask{1} << threads) - 1;
  paths_.reset(lanes, program_->functions[0].entry);
  if (frames_.empty()) frames_.emplace_back();
  for (CallFrame& frame : frames_) frame.used = false;
  frames_[0].registers = registers;
  frames_[0].function = 0;
  frames_[0].local_base = 0;
  frames_[0].used = true;
  if (program_->local_bytes != 0) local_.assign(std::size_t{program_->local_bytes} * kLanes, kPoison);
  setup_frame(program_->functions[0], frames_[0]);
}

void Warp::setup_frame(const ProgramFunction& function, CallFrame& frame) {
  for (const SetupRow& row : function.setup) {
    std::byte* to = frame.registers + row.destination.offset();
    switch (row.kind) {
      case SetupRow::Kind::special:
        fill_special(row.special, to);
        break;
      case SetupRow::Kind::zero:
        std::memset(to, 0, row.bytes == 0 ? sizeof(Mask) : std::size_t{row.bytes} * kLanes);
        break;
      case SetupRow::Kind::local_address: {
        const std::uint64_t address = frame.local_base + row.value;
        for (int lane = 0; lane < kLanes; ++lane) std::memcpy(to + lane * row.bytes, &address, row.bytes);
        break;
      }
    }
  }
}

void Warp::fill_special(ptx::Special special, std::byte* row) const {
  exec::fill_special(special, {*grid_, *block_, index_}, row);
}

Mask Warp::guarded(const Op& op, const Path& path) const {
  if (op.guard.none()) return path.lanes;
  const Mask mask = *reinterpret_cast<const Mask*>(frames_[path.frame].registers + op.guard.offset());
  return path.lanes & (op.guard_negated ? ~mask : mask);
}

// Rows of %clock and its like are filled afresh for an operation that reads them.
void Warp::refresh_clock() {
  const CallFrame& frame = frames_[paths_.now().frame];
  for (const SetupRow& row : program_->functions[frame.function].setup)
    if (row.kind == SetupRow::Kind::special && changes(row.special))
      fill_special(row.special, frame.registers + row.destination.offset());
}

// Loads, stores and barriers write no other registers than their destinations, and none later than at their issue;
// after any other operation that was not executed ahead nothing is known of the registers, or of their frame.
void Warp::keep_shapes(const Op& op) {
  if (op.kind == Kind::store || (op.kind == Kind::barrier && op.operands.destination[0].none())) return;
  if (op.kind != Kind::load) return shapes_.forget();
  if (op.writes_base) shapes_.written(op.operands);
}

std::uint32_t Warp::run_ahead(Executed* out, std::uint32_t max_operations, const AccessNote& shared) {
  std::uint32_t count = 0;
  while (count != max_operations && paths_.ready() && !block_->fault_ &&
         !(paths_.diverged() && turn_ + max_operations >= kTurn)) {
    const std::uint32_t executed = run_path_ahead(out + count, max_operations - count, shared);
    if (executed == 0) break;
    count += executed;
    if (paths_.diverged()) turn_ += executed;
    if (!paths_.ready() && !paths_.done()) resume_waiting();
  }
  return count;
}

void Warp::step(Step& step) {
  Path& path = paths_.now();
  const Op& op = code_[path.pc];
  const Mask active = guarded(op, path);
  step.op = &op;
  step.pc = path.pc;
  step.path = path.lanes;
  step.active = active;
  event_ = {};
  block_->access_.lanes = 0;
  LaunchStatistics& statistics = block_->statistics_;
  ++statistics.warp_instructions;
  statistics.thread_instructions += count_lanes(active);
  ++statistics.by_class[static_cast<std::size_t>(op.unit)];
  if (op.reads_clock) refresh_clock();
  keep_shapes(op);
  if (keeps_paths(op.kind) && !lacks_lanes(op, path)) {
    if (active == 0 || work(op, frame_of(path, active))) {
      advance();
      if (op.memory.spins && active != 0) spin();
    }
  } else {
    execute(op, active);
  }
  if (!paths_.ready() && !paths_.done()) resume_waiting();
  if (paths_.diverged() && ++turn_ >= kTurn && paths_.ready()) take_turns();
  step.executed = !event_.set_aside;
  step.divergent = event_.divergent;
  step.at_barrier = event_.at_barrier;
  step.exited = event_.exited;
  step.access = &block_->access_;
  step.memory = block_->access_.lanes != 0;
}

std::uint64_t Warp::run(std::uint64_t budget) {
  std::uint64_t left = budget;
  shapes_ = {};
  while (left != 0 && !block_->fault_) {
    if (!paths_.ready()) {
      if (!paths_.done()) resume_waiting();
      if (!paths_.ready()) break;
    }
    run_path(left);
    if (std::exchange(yields_, false)) break;
  }
  const std::uint64_t spent = budget - left;
  block_->statistics_.warp_instructions += spent;
  if (paths_.diverged()) {
    turn_ += static_cast<std::uint32_t>(std::min<std::uint64_t>(spent, kTurn));
    if (turn_ >= kTurn && paths_.ready()) take_turns();
  }
  return spent;
}

// Runs the current path until an operation changes the paths, and at least one operation. This is the hot loop: its
// state is held in local variables and written back before any code outside reads it.
void Warp::run_path(std::uint64_t& budget) {
  LaunchStatistics& statistics = block_->statistics_;
  Path& path = paths_.now();
  const std::uint32_t meet = path.meet;
  const Mask lanes = path.lanes;
  const auto lane_count = std::uint64_t{count_lanes(lanes)};
  const bool apart = (lanes | paths_.exited()) != kAllLanes;
  Frame frame{frames_[path.frame].registers, grid_->constants->data(), lanes};
  std::uint64_t left = budget;
  std::uint64_t threads = 0;
  std::uint32_t pc = path.pc;
  const Op* last = nullptr;
  while (true) {
    const Op& op = code_[pc];
    Mask active = lanes;
    if (op.guard.none()) {
      threads += lane_count;
    } else {
      const Mask mask = *reinterpret_cast<const Mask*>(frame.registers + op.guard.offset());
      active &= op.guard_negated ? ~mask : mask;
      threads += count_lanes(active);
    }
    --left;
    ++statistics.by_class[static_cast<std::size_t>(op.unit)];
    if (apart && op.whole_warp) {
      last = &op;
      break;
    }
    if (op.kind == Kind::lane) {
      if (op.reads_clock) {
        // Programs wait for clocks: one that counted instructions would let them wait for millions of these.
        constexpr std::uint64_t kCyclesPerInstruction = 8;
        block_->clock = block_->timer = (statistics.warp_instructions + (budget - left)) * kCyclesPerInstruction;
        refresh_clock();
      }
      if (active != 0) {
        frame.active = active;
        op.run(op.operands, frame);
      }
      ++pc;
    } else if (op.kind == Kind::branch && (active == lanes || active == 0)) {
      pc = active != 0 ? op.target : pc + 1;
    } else if (keeps_paths(op.kind)) {
      if (active != 0) {
        frame.active = active;
        path.pc = pc;  // for a fault
        if (!work(op, frame)) break;
      }
      ++pc;
      if (op.memory.spins) {
        last = &op;
        break;
      }
    } else {
      last = &op;
      break;
    }
    if (pc == meet || left == 0) break;
  }
  budget = left;
  statistics.thread_instructions += threads;
  if (block_->fault_) return;
  path.pc = pc;
  if (last == nullptr) return paths_.settle();
  if (!keeps_paths(last->kind) || last->whole_warp) return execute(*last, guarded(*last, path));
  paths_.settle();
  if (paths_.ready()) spin();
}

bool Warp::work(const Op& op, const Frame& frame) {
  switch (op.kind) {
    case Kind::lane:
      op.run(op.operands, frame);
      return true;
    case Kind::load:
      return load(op, frame);
    case Kind::store:
      return store(op, frame);
    case Kind::atomic:
    case Kind::reduction:
      return atomic(op, frame);
    case Kind::async_copy:
      return async_copy(op, frame);
    case Kind::matrix_load:
      return matrix_load(op, frame);
    case Kind::matrix_store:
      return matrix_store(op, frame);
    case Kind::surface_load:
    case Kind::surface_store:
    case Kind::surface_reduction:
      return surface(op, frame);
    case Kind::texture:
    case Kind::texture_query:
      return texture(op, frame);
    case Kind::matrix_move:
      matrix_move(op, frame);
      return true;
    case Kind::mbarrier:
      return mbarrier(op, frame);
    case Kind::stack:
      return change_stack(op, frame);
    case Kind::to_generic:
    case Kind::from_generic:
      shift_window(op, frame);
      return true;
    case Kind::in_space:
      in_space(op, frame);
      return true;
    case Kind::active_mask: {
      auto* row = frame.destination<std::uint32_t>(op.operands.destination[0]);
      for (int lane = 0; lane < kLanes; ++lane)
        if ((frame.active >> lane) & 1U) row[lane] = frame.active;
      return true;
    }
    default:
      return true;
  }
}

void Warp::execute(const Op& op, Mask active) {
  // An operation that no lane executes has no effect; `.sync` forms neither wait nor arrive.
  if (active == 0) return advance();
  if (op.whole_warp) return assemble();
  switch (op.kind) {
    case Kind::branch:
      return branch(op, active);
    case Kind::indexed_branch:
      return indexed_branch(op, active);
    case Kind::call:
      return call(op, active);
    case Kind::indirect_call:
      return indirect_call(op, active);
    case Kind::ret:
      return ret(active);
    case Kind::exit:
      return exit(active);
    case Kind::trap:
      return raise(fault_at(Fault::Kind::trap, std::countr_zero(active), "trap"));
    case Kind::barrier:
      return barrier(op, active);
    default:
      return exchange(op, active);
  }
}

// A loop that waits for lanes of its own warp must make progress: after a number of spins another path runs.
void Warp::spin() {
  ++block_->spins_;
  if (paths_.ready() && paths_.diverged() && ++paths_.now().spins >= kSpins) take_turns();
}

void Warp::take_turns() {
  turn_ = 0;
  paths_.now().spins = 0;
  if (!paths_.let_go()) paths_.rotate();
}

Fault Warp::fault_at(Fault::Kind kind, int lane, std::string what) const {
  Fault fault;
  fault.kind = kind;
  fault.kernel = program_->kernel;
  fault.place = program_->place(paths_.now().pc);
  fault.block = block_->index();
  const std::uint32_t flat = index_ * kLanes + static_cast<std::uint32_t>(lane);
  const gpu::Dim3& size = grid_->threads;
  fault.thread = {flat % size.x, flat / size.x % size.y, flat / size.x / size.y};
  fault.has_thread = true;
  fault.what = std::move(what);
  return fault;
}

void Warp::raise(Fault fault) { block_->raise(std::move(fault)); }

void Warp::positions(std::vector<WarpPosition>& out) const {
  for (std::uint32_t i = 0; i < paths_.size(); ++i) {
    const Path& path = paths_[i];
    if (path.state == Path::State::unused || path.lanes == 0) continue;
    WarpPosition p;
    p.block = block_->index();
    p.warp = index_;
    p.lanes = path.lanes;
    p.place = program_->place(path.pc);
    p.instruction = program_->info[path.pc].text;
    switch (path.state) {
      case Path::State::warp_wait:
        p.waits_for = fmt::format("lanes {:08x}", path.awaited & ~path.lanes);
        break;
      case Path::State::join:
        p.waits_for = "the other lanes of its warp to get there";
        break;
      case Path::State::block_wait: {
        const Barrier& b = block_->barriers_[path.key];
        p.waits_for = b.expected != 0
                          ? fmt::format("barrier {} ({} of {} threads arrived)", path.key, b.padded, b.expected)
                          : fmt::format("barrier {} ({} of {} threads arrived)", path.key, b.threads,
                                        grid_->threads_per_block() - block_->exited_threads_);
        break;
      }
      default:
        break;
    }
    out.push_back(std::move(p));
  }
}

}  // namespace wm::exec
