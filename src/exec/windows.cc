// cvta and isspacep: between a space's own addresses and generic ones.
#include <bit>

#include "exec/address_space.h"
#include "exec/block.h"
#include "exec/warp.h"

namespace wm::exec {

using ptx::Space;

namespace {

std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return kSharedWindow;
    case Space::local:
      return kLocalWindow;
    case Space::param:
      return kParamWindow;
    default:
      return 0;  // global and constant addresses are generic ones
  }
}

}  // namespace

void Warp::shift_window(const Op& op, const Frame& frame) {
  const std::uint64_t window = window_of(op.memory.space);
  const std::uint64_t by = op.kind == Kind::to_generic ? window : std::uint64_t{0} - window;
  const auto* from = frame.source<std::uint64_t>(op.operands.source[0]);
  auto* to = frame.destination<std::uint64_t>(op.operands.destination[0]);
  for (int i = 0; i < kLanes; ++i) to[i] = ((frame.active >> i) & 1U) != 0 ? from[i] + by : to[i];
}

void Warp::in_space(const Op& op, const Frame& frame) const {
  const auto* address = frame.source<std::uint64_t>(op.operands.source[0]);
  Mask inside = 0;
  for (int i = 0; i < kLanes; ++i) {
    bool in = false;
    if (op.memory.space == Space::global) {
      in = address[i] < kParamWindow;
    } else if (op.memory.space == Space::constant) {
      const Allocation* a = grid_->memory->find(address[i]);
      in = a != nullptr && a->read_only;
    } else {
      in = address[i] - window_of(op.memory.space) < kWindowBytes;
    }
    inside |= static_cast<Mask>(in) << i;
  }
  auto* to = frame.destination<Mask>(op.operands.destination[0]);
  *to = (*to & ~frame.active) | (inside & frame.active);
}

}  // namespace wm::exec
