// Branches, calls and returns of a warp.
#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

#include "exec/block.h"
#include "exec/warp.h"

namespace wm::exec {

namespace {

constexpr std::uint32_t kMaxDepth = 512;             // limit of nested calls
constexpr std::uint64_t kMaxFrameBytes = 16U << 20;  // limit of the frames of a warp's calls

// The lanes of `active` whose value in `row` equals that of the first of them.
template <typename T>
Mask agreeing(const T* row, Mask active) {
  const T value = row[std::countr_zero(active)];
  Mask same = 0;
  for (int lane = 0; lane < kLanes; ++lane) same |= static_cast<Mask>(row[lane] == value) << lane;
  return same & active;
}

}  // namespace

void Warp::branch(const Op& op, Mask active) {
  Path& path = paths_.now();
  const std::uint32_t next = path.pc + 1;
  if (active == path.lanes || op.target == next) {
    path.pc = op.target;
    if (path.pc == path.meet) paths_.settle();
    return;
  }
  event_.divergent = true;
  paths_.diverge(active, op.target, next, op.reconverge);
}

void Warp::indexed_branch(const Op& op, Mask active) {
  const Path& path = paths_.now();
  const std::uint32_t pc = path.pc;
  const auto* index = frame_of(path, active).source<std::uint32_t>(op.operands.source[0]);
  const int first = std::countr_zero(active);
  if (index[first] >= op.targets) {
    return raise(fault_at(Fault::Kind::bad_call, first,
                          fmt::format("brx.idx with index {} into a table of {}", index[first], op.targets)));
  }
  const std::uint32_t target = program_->branch_targets[op.target + index[first]];
  const Mask group = agreeing(index, active);
  if (group == path.lanes) {
    paths_.now().pc = target;
    if (target == paths_.now().meet) paths_.settle();
    return;
  }
  // The first group leaves; the others execute the branch again. Lanes whose guard is false fall through.
  event_.divergent = true;
  if (active != path.lanes)
    paths_.diverge(path.lanes & ~active, pc + 1, pc, op.reconverge);
  else
    paths_.diverge(group, target, pc, op.reconverge);
}

void Warp::call(const Op& op, Mask active) { enter(op.target, op, active); }

void Warp::indirect_call(const Op& op, Mask active) {
  const Path& path = paths_.now();
  const std::uint32_t pc = path.pc;
  const auto* address = frame_of(path, active).source<std::uint64_t>(op.operands.source[0]);
  const Mask group = agreeing(address, active);
  if (group != path.lanes && group != active) {
    event_.divergent = true;
    return paths_.diverge(path.lanes & ~group, pc, pc, pc + 1);
  }
  const int first = std::countr_zero(active);
  for (const std::uint32_t f : program_->calls[op.targets].allowed)
    if (function_address(program_->functions[f].module_index) == address[first]) return enter(f, op, active);
  raise(fault_at(Fault::Kind::bad_call, first,
                 fmt::format("call to {:#x}, which is no function of this kernel that fits", address[first])));
}

void Warp::enter(std::uint32_t function, const Op& op, Mask active) {
  const ProgramFunction& callee = program_->functions[function];
  if (callee.builtin != ProgramFunction::Builtin::none) return builtin(callee.builtin, op, active);

  const CallFrame& caller = frames_[paths_.now().frame];
  const std::uint32_t local_base = caller.local_base + program_->functions[caller.function].local_bytes;
  if (caller.depth >= kMaxDepth || local_base + callee.local_bytes > stack_top(active) ||
      frame_bytes_ + callee.frame_bytes() > kMaxFrameBytes) {
    return raise(fault_at(Fault::Kind::stack_overflow, std::countr_zero(active),
                          fmt::format("stack overflow in the call of '{}', {} calls deep", callee.name, caller.depth)));
  }
  const std::uint32_t index = open_frame(callee);
  CallFrame& opened = frames_[index];
  opened.function = function;
  opened.local_base = local_base;
  opened.call = op.targets;
  opened.caller = paths_.now().frame;
  opened.depth = frames_[opened.caller].depth + 1;
  opened.stack = stack_;
  setup_frame(callee, opened);
  pass(program_->calls[op.targets].arguments, frames_[opened.caller], callee.parameters, opened, active);
  event_.divergent = active != paths_.now().lanes;
  paths_.call(active, callee.entry, index);
}

// A frame that no path runs in, large enough; frames are kept for the next call.
std::uint32_t Warp::open_frame(const ProgramFunction& function) {
  const std::uint32_t bytes = function.frame_bytes();
  std::uint32_t index = 1;
  while (index < frames_.size() && (frames_[index].used || frames_[index].capacity < bytes)) ++index;
  if (index == frames_.size()) {
    CallFrame& made = frames_.emplace_back();
    made.capacity = std::max(bytes, 4096U);
    made.storage = std::make_unique<std::byte[]>(made.capacity);
    made.registers = made.storage.get();
    frame_bytes_ += made.capacity;
  }
  frames_[index].used = true;
  return index;
}

void Warp::close_frames() {
  for (const std::uint32_t index : paths_.closed_frames()) frames_[index].used = false;
  paths_.closed_frames().clear();
}

void Warp::ret(Mask active) {
  const CallFrame& callee = frames_[paths_.now().frame];
  if (callee.function == 0 && paths_.now().frame == 0) return exit(active);
  const CallSite& site = program_->calls[callee.call];
  pass(program_->functions[callee.function].results, callee, site.results, frames_[callee.caller], active);
  // Memory that the function took with alloca ends with it.
  for (Mask m = active; m != 0 && !stack_.empty(); m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    stack_[lane] = callee.stack.empty() ? program_->local_bytes : callee.stack[lane];
  }
  const bool all = active == paths_.now().lanes;
  event_.divergent = !all;
  if (!all) {
    // The lanes that stay go on behind the return once the others have left.
    ++paths_.now().pc;
    (void)paths_.ret(active);
  } else {
    (void)paths_.ret(active);
  }
  close_frames();
}

void Warp::exit(Mask active) {
  event_.exited = true;
  Path& path = paths_.now();
  event_.divergent = active != path.lanes;
  if (active != path.lanes) {
    ++path.pc;
    paths_.exit(active);
    paths_.settle();
  } else {
    paths_.exit(active);
  }
  close_frames();
  block_->lanes_exited(static_cast<std::uint32_t>(std::popcount(active)));
  resume_waiting();
  if (paths_.done()) block_->warp_done();
}

// The place of an argument or result for one lane.
std::byte* Warp::passed_at(const Passed& p, const CallFrame& frame, int lane) const {
  const ProgramFunction& function = program_->functions[frame.function];
  if (!p.in_register)
    return frame.registers + function.row_bytes + static_cast<std::size_t>(lane) * function.parameter_bytes + p.offset;
  return frame.registers + p.row.offset() + static_cast<std::size_t>(lane) * p.bytes;
}

void Warp::pass(const std::vector<Passed>& from, const CallFrame& source, const std::vector<Passed>& to,
                const CallFrame& target, Mask lanes) {
  for (std::size_t i = 0; i < from.size() && i < to.size(); ++i) {
    const Passed& a = from[i];
    const Passed& b = to[i];
    if (a.bytes == 0 && a.in_register) {  // a predicate
      const Mask value = Frame{source.registers, grid_->constants->data(), lanes}.predicate(a.row);
      auto* out = reinterpret_cast<Mask*>(target.registers + b.row.offset());
      *out = (*out & ~lanes) | (value & lanes);
      continue;
    }
    if (a.in_register && a.row.constant()) {  // an immediate
      for (Mask m = lanes; m != 0; m &= m - 1) {
        const int lane = std::countr_zero(m);
        std::memcpy(passed_at(b, target, lane),
                    grid_->constants->data() + a.row.offset() + static_cast<std::size_t>(lane) * a.bytes,
                    std::min(a.bytes, b.bytes));
      }
      continue;
    }
    for (Mask m = lanes; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      std::memcpy(passed_at(b, target, lane), passed_at(a, source, lane), std::min(a.bytes, b.bytes));
    }
  }
}

// alloca, stacksave and stackrestore: memory of a thread whose size is known only when the kernel runs. It is taken
// from the end of the thread's local memory downwards; calls check that the variables of functions do not reach it.
namespace {

std::uint64_t value(const Op& op, const Frame& frame, int lane) {
  const RegisterRow row = op.operands.source[0];
  return op.memory.bytes == 8 ? frame.source<std::uint64_t>(row)[lane] : frame.source<std::uint32_t>(row)[lane];
}

}  // namespace

std::uint32_t Warp::stack_top(Mask lanes) const {
  std::uint32_t top = program_->local_bytes;
  for (Mask m = lanes; m != 0 && !stack_.empty(); m &= m - 1)
    top = std::min(top, stack_[static_cast<std::size_t>(std::countr_zero(m))]);
  return top;
}

// operands: source[0] the bytes (alloca) or an earlier top (stackrestore); destination[0] the top afterwards.
bool Warp::change_stack(const Op& op, const Frame& frame) {
  if (stack_.empty()) stack_.assign(kLanes, program_->local_bytes);
  const CallFrame& own = frames_[paths_.now().frame];
  const std::uint32_t bottom = own.local_base + program_->functions[own.function].local_bytes;
  const RegisterRow to = op.operands.destination[0];
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::uint32_t& top = stack_[static_cast<std::size_t>(lane)];
    if (op.mode == Mode::stack_allocate) {
      const std::uint64_t bytes = value(op, frame, lane), align = op.targets;
      if (bytes > top - bottom || (top - bytes) / align * align < bottom) {
        raise(fault_at(Fault::Kind::stack_overflow, lane,
                       fmt::format("alloca of {} bytes where {} are left", bytes, top - bottom)));
        return false;
      }
      top = static_cast<std::uint32_t>((top - bytes) / align * align);
    } else if (op.mode == Mode::stack_restore) {
      top =
          static_cast<std::uint32_t>(std::clamp<std::uint64_t>(value(op, frame, lane), bottom, program_->local_bytes));
    }
    if (to.none()) continue;
    if (op.memory.bytes == 8)
      frame.destination<std::uint64_t>(to)[lane] = top;
    else
      frame.destination<std::uint32_t>(to)[lane] = top;
  }
  return true;
}

}  // namespace wm::exec
