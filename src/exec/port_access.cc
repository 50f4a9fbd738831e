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

// Accesses of several spaces count: those of their lanes that are in global memory go through the port.
bool Warp::ported() const {
  const ptx::Space space = block_->access_.space;
  return block_->port != nullptr && (space == ptx::Space::global || space == ptx::Space::generic);
}

// The lanes of an access that are in global memory.
Mask Warp::global_lanes(Mask active) const {
  const Access& access = block_->access_;
  if (access.space == ptx::Space::global) return active;
  Mask lanes = 0;
  for (Mask m = active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (access.address[static_cast<std::size_t>(lane)] < kParamWindow) lanes |= Mask{1} << lane;
  }
  return lanes;
}

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
  const Mask global = global_lanes(frame.active);
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
    if ((global >> lane & 1U) != 0)
      block_->port->store(to, kept.data(), bytes);
    else
      std::memcpy(to, kept.data(), bytes);
  }
  return true;
}

// Checked now, executed later; frame.active are lanes in global memory.
bool Warp::defer_atomic(const Op& op, const Frame& frame, const Window& window) {
  const Access& access = block_->access_;
  const Memory& memory = op.memory;
  PendingAtomic& pending = block_->port->defer();
  pending.op = &op;
  pending.lanes = frame.active;
  pending.address = access.address;
  const std::uint32_t bytes = std::uint32_t{memory.bytes} * memory.count;
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
  std::byte* rows = pending.rows.data();
  pending.registers = nullptr;
  if (memory.count == 1) {
    copy_row(rows + PendingAtomic::kB.offset(), frame, op.operands.source[0], bytes);
    copy_row(rows + PendingAtomic::kC.offset(), frame, op.operands.source[1], bytes);
    const RegisterRow to = op.operands.destination[0];
    pending.destination = to.none() ? nullptr : frame.destination<std::byte>(to);
    return true;
  }
  // Vectors: destinations first, then what is added to each element.
  const std::size_t first_source = op.kind == Kind::atomic ? memory.count : 0;
  for (std::uint32_t e = 0; e < memory.count; ++e)
    copy_row(rows + PendingAtomic::element(PendingAtomic::kB, memory, e).offset(), frame,
             op.operands.more[first_source + e], memory.bytes);
  if (op.kind == Kind::atomic) pending.registers = frame.registers;
  pending.destination = pending.registers;
  return true;
}

}  // namespace wm::exec
