// Executes operations early whose timing no other warp can observe, so that a simulator that knows their time need not
// call `step` for every one of them.
#include <algorithm>
#include <bit>

#include "exec/block.h"
#include "exec/shared_shape.h"
#include "exec/warp.h"

namespace wm::exec {

namespace {

bool in_shared(const Op& op) { return op.memory.space == ptx::Space::shared && !op.memory.spins; }

bool timeless(const Op& op) {
  switch (op.kind) {
    case Kind::lane:
      return !op.reads_clock;
    case Kind::load:
      return op.memory.space == ptx::Space::param || in_shared(op);
    case Kind::store:
      return in_shared(op);
    case Kind::matrix_move:
    case Kind::to_generic:
    case Kind::from_generic:
    case Kind::in_space:
    case Kind::branch:
      return true;
    default:
      return false;
  }
}

}  // namespace

void mark_ahead(std::vector<Op>& code) {
  std::vector<std::uint32_t> bases;  // the registers of loads that may have a shape, in any frame
  for (Op& op : code) {
    op.timeless = timeless(op);
    op.shaped = op.kind == Kind::load && SharedShapes::takes(op);
    if (op.shaped) bases.push_back(op.memory.base.value);
  }
  const auto is_base = [&](RegisterRow row) { return std::find(bases.begin(), bases.end(), row.value) != bases.end(); };
  for (Op& op : code) {
    const Operands& o = op.operands;
    op.writes_base = std::any_of(o.destination.begin(), o.destination.end(), is_base) ||
                     std::any_of(o.more.begin(), o.more.end(), is_base);
  }
}

// A load from shared memory whose addresses have a shape; false: it has none, or would fault.
inline bool Warp::load_shaped(const Op& op, const Frame& frame, const AccessNote& shared, Executed& out) {
  if (!op.shaped || frame.active != kAllLanes) return false;
  const SharedShape& shape = shapes_.of(op.memory, frame, shared);
  if (!shape.grouped || !shape.load(op.memory.offset, block_->shared_.data(), block_->shared_.size(),
                                    frame.destination<std::uint32_t>(op.operands.destination[0])))
    return false;
  out.note = shape.note;
  return true;
}

// Runs the current path until an operation whose timing matters, or until the paths change.
std::uint32_t Warp::run_path_ahead(Executed* out, std::uint32_t max_operations, const AccessNote& shared) {
  LaunchStatistics& statistics = block_->statistics_;
  Path& path = paths_.now();
  const Mask lanes = path.lanes;
  const auto lane_count = count_lanes(lanes);
  const bool apart = (lanes | paths_.exited()) != kAllLanes;
  Frame frame{frames_[path.frame].registers, grid_->constants->data(), lanes};
  std::uint32_t pc = path.pc;
  std::uint32_t count = 0;
  std::uint64_t threads = 0;
  const Op* parting = nullptr;  // a divergent branch
  while (count != max_operations) {
    const Op& op = code_[pc];
    if (!op.timeless || (apart && op.whole_warp)) break;
    Mask active = lanes;
    std::uint32_t active_count = lane_count;
    if (!op.guard.none()) {
      const Mask mask = *reinterpret_cast<const Mask*>(frame.registers + op.guard.offset());
      active &= op.guard_negated ? ~mask : mask;
      if (active != lanes) active_count = count_lanes(active);
    }
    out[count++] = {pc, active_count, 0};
    threads += active_count;
    ++statistics.by_class[static_cast<std::size_t>(op.unit)];
    if (op.kind == Kind::branch) {
      if (active != lanes && active != 0) {
        parting = &op;
        frame.active = active;
        break;
      }
      pc = active != 0 ? op.target : pc + 1;
    } else {
      if (active != 0) {
        frame.active = active;
        if (op.kind == Kind::lane) {
          op.run(op.operands, frame);
        } else if (!load_shaped(op, frame, shared, out[count - 1])) {
          path.pc = pc;  // for a fault
          if (!work(op, frame)) break;
          if (op.memory.space == ptx::Space::shared && shared.note != nullptr && block_->access_.lanes != 0)
            out[count - 1].note = shared.note(block_->access_, shared.argument);
        }
        if (op.writes_base) shapes_.written(op.operands);
      }
      ++pc;
    }
    if (pc == path.meet) break;
  }
  statistics.warp_instructions += count;
  statistics.thread_instructions += threads;
  if (block_->fault_) return count;
  path.pc = pc;
  if (parting != nullptr)
    branch(*parting, frame.active);
  else if (pc == path.meet)
    paths_.settle();
  return count;
}

}  // namespace wm::exec
