// Global memory through a port (global_port.h): stores kept in it, loads that look there first, atomics put off.
#include <array>
#include <bit>
#include <cstring>

#include "exec/block.h"
#include "exec/global_port.h"
#include "exec/memory_rows.h"
#include "exec/warp.h"

namespace wm::exec {

namespace {

constexpr std::size_t kWidest = 32;  // bytes of one lane's access

void copy_row(std::byte* to, const Frame& frame, RegisterRow from, std::uint32_t bytes) {
  if (!from.none()) std::memcpy(to, frame.source<std::byte>(from), std::size_t{bytes} * kLanes);
}

}  // namespace

bool Warp::ported() const { return block_->port != nullptr && block_->access_.space == ptx::Space::global; }

// Whether the port may hold newer values than memory does.
bool Warp::port_holds(Mask active, const Window& window) const {
  const Access& access = block_->access_;
  if (block_->port->empty()) return false;
  if (!window.inside) return true;
  bool any = false;
  for (Mask m = active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    any |= block_->port->may_hold(window.at(access.address[lane], lane));
  }
  return any;
}

bool Warp::port_load(const Op& op, const Frame& frame, const Window& window) {
  const Memory& memory = op.memory;
  const Access& access = block_->access_;
  const std::uint32_t bytes = std::uint32_t{memory.bytes} * memory.count;
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::byte* from = window.inside ? window.at(access.address[lane], lane)
                                          : host_of(op, access.space, lane, access.address[lane], bytes, false);
    if (from == nullptr) return false;
    std::array<std::byte, kWidest> seen;
    block_->port->read(from, seen.data(), bytes);
    for (int e = 0; e < memory.count; ++e) {
      const RegisterRow to =
          memory.count == 1 ? op.operands.destination[0] : op.operands.more[static_cast<std::size_t>(e)];
      load_lane(memory, seen.data() + e * memory.bytes, frame, to, lane);
    }
  }
  return true;
}

// Adjacent lanes whose row has the layout of memory are stored with one copy.
bool Warp::port_store(const Op& op, const Frame& frame, const Window& window) {
  const Memory& memory = op.memory;
  const Access& access = block_->access_;
  if (window.inside && memory.count == 1 && memory.row_bytes == memory.bytes && frame.active == kAllLanes &&
      in_a_row(access.address, memory.bytes)) {
    block_->port->store(window.at(access.address[0], 0), frame.source<std::byte>(op.operands.source[0]),
                        kLanes * std::uint32_t{memory.bytes});
    return true;
  }
  const std::uint32_t bytes = std::uint32_t{memory.bytes} * memory.count;
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* to = window.inside ? window.at(access.address[lane], lane)
                                  : host_of(op, access.space, lane, access.address[lane], bytes, true);
    if (to == nullptr) return false;
    std::array<std::byte, kWidest> kept;
    for (int e = 0; e < memory.count; ++e) {
      const RegisterRow from =
          memory.count == 1 ? op.operands.source[0] : op.operands.more[static_cast<std::size_t>(e)];
      store_lane(memory, kept.data() + e * memory.bytes, frame, from, lane);
    }
    block_->port->store(to, kept.data(), bytes);
  }
  return true;
}

// Checked now, executed later.
bool Warp::defer_atomic(const Op& op, const Frame& frame, const Window& window) {
  const Access& access = block_->access_;
  PendingAtomic& pending = block_->port->defer();
  pending.op = &op;
  pending.lanes = frame.active;
  pending.address = access.address;
  const std::uint32_t bytes = op.memory.bytes;
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t address = access.address[static_cast<std::size_t>(lane)];
    std::byte* at = window.inside ? window.at(address, lane) : host_of(op, access.space, lane, address, bytes, true);
    if (at == nullptr) {
      block_->port->recycle(block_->port->take_atomic());
      return false;
    }
    pending.at[static_cast<std::size_t>(lane)] = at;
  }
  copy_row(pending.rows.data() + PendingAtomic::kB.offset(), frame, op.operands.source[0], bytes);
  copy_row(pending.rows.data() + PendingAtomic::kC.offset(), frame, op.operands.source[1], bytes);
  const RegisterRow to = op.operands.destination[0];
  pending.destination = to.none() ? nullptr : frame.destination<std::byte>(to);
  return true;
}

}  // namespace wm::exec
