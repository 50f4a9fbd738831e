// Loads and stores of a warp: addresses, the memory behind them, bounds and alignment, faults.
//
// The usual access finds all its lanes in one piece of memory ("window"), which is looked up and checked once. Lanes in
// different pieces, and accesses that fault, go lane by lane.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/format.h>

#include "exec/block.h"
#include "exec/global_port.h"
#include "exec/memory_rows.h"
#include "exec/warp.h"

namespace wm::exec {

using ptx::Space;

namespace {

const char* space_name(Space space) {
  switch (space) {
    case Space::constant:
      return "constant";
    case Space::global:
      return "global";
    case Space::local:
      return "local";
    case Space::param:
      return "param";
    case Space::shared:
      return "shared";
    default:
      return "generic";
  }
}

// Which space a generic address is in, and its address there.
Space space_of(std::uint64_t address, std::uint64_t& within) {
  within = address;
  if (address < kParamWindow) return Space::global;
  if (address - kSharedWindow < kWindowBytes) return within = address - kSharedWindow, Space::shared;
  if (address - kLocalWindow < kWindowBytes) return within = address - kLocalWindow, Space::local;
  if (address - kParamWindow < kWindowBytes) return within = address - kParamWindow, Space::param;
  return Space::global;
}

const char* doing_name(const Op& op) {
  switch (op.kind) {
    case Kind::load:
    case Kind::matrix_load:
      return "load";
    case Kind::store:
    case Kind::matrix_store:
      return "store";
    case Kind::async_copy:
      return "copy";
    default:
      return "atomic";
  }
}

}  // namespace

// The address of every active lane, as the operation gives it. Other lanes get that of the first active one, so that
// what follows may look at all 32.
void Warp::addresses(const Memory& memory, Mask active) {
  auto& address = block_->access_.address;
  const Frame frame = frame_of(paths_.now(), active);
  const auto offset = static_cast<std::uint64_t>(memory.offset);
  if (memory.base.none()) {
    address.fill(offset);
    return;
  }
  if (memory.base_bytes == 8) {
    const auto* row = frame.source<std::uint64_t>(memory.base);
    for (int i = 0; i < kLanes; ++i) address[i] = row[i] + offset;
  } else {
    const auto* row = frame.source<std::uint32_t>(memory.base);
    for (int i = 0; i < kLanes; ++i)
      address[i] = static_cast<std::uint32_t>(row[i] + static_cast<std::uint32_t>(offset));
  }
  if (active == kAllLanes) return;
  const std::uint64_t first = address[std::countr_zero(active)];
  for (int i = 0; i < kLanes; ++i) address[i] = ((active >> i) & 1U) != 0 ? address[i] : first;
}

// Turns generic addresses into addresses of the one space they all lie in; false: they lie in several.
bool Warp::resolve_generic() {
  Access& access = block_->access_;
  std::uint64_t within = 0;
  const Space space = space_of(access.address[0], within);
  if (space == Space::global) {
    std::uint64_t highest = 0;
    for (int i = 0; i < kLanes; ++i) highest |= static_cast<std::uint64_t>(access.address[i] >= kParamWindow);
    if (highest != 0) return false;
  } else {
    for (int i = 1; i < kLanes; ++i)
      if (space_of(access.address[i], within) != space) return false;
    for (int i = 0; i < kLanes; ++i) {
      space_of(access.address[i], within);
      access.address[i] = within;
    }
  }
  access.space = space;
  return true;
}

// The memory that holds `address` of a space.
bool Warp::find_window(Space space, std::uint64_t address, Window& window) {
  const CallFrame& frame = frames_[paths_.now().frame];
  switch (space) {
    case Space::global:
    case Space::constant: {
      const Allocation* a = grid_->memory->find(address);
      if (a == nullptr) return false;
      window = {a->host.get(), a->base, a->bytes, 0, a->read_only};
      return true;
    }
    case Space::shared:
      window = {block_->shared_.data(), 0, block_->shared_.size(), 0, false};
      return true;
    case Space::local:
      window = {local_.data(), 0, program_->local_bytes, program_->local_bytes, false};
      return true;
    case Space::param:
      if (address < kFrameParameters) {
        window = {const_cast<std::byte*>(grid_->parameters.data()), 0, grid_->parameters.size(), 0, true};
      } else {
        const ProgramFunction& f = program_->functions[frame.function];
        window = {frame.registers + f.row_bytes, kFrameParameters, f.parameter_bytes, f.parameter_bytes, false};
      }
      return true;
    default:
      return false;
  }
}

// Fills the access's addresses; true when every lane is inside `window` and aligned.
bool Warp::locate(const Op& op, const Memory& memory, Mask active, Window& window) {
  Access& access = block_->access_;
  const std::uint64_t bytes = std::uint64_t{memory.bytes} * memory.count;
  access.space = memory.space;
  access.bytes = static_cast<std::uint8_t>(bytes);
  access.lanes = active;
  addresses(memory, active);
  if (memory.space == Space::generic && !resolve_generic()) return false;
  if (!find_window(access.space, access.address[0], window)) return false;
  if (window.bytes < bytes || (window.read_only && op.kind != Kind::load)) return false;
  const std::uint64_t limit = window.bytes - bytes;
  std::uint64_t bad = 0;
  std::uint64_t low = 0;
  for (int i = 0; i < kLanes; ++i) {
    bad |= static_cast<std::uint64_t>(access.address[i] - window.base > limit);
    low |= access.address[i];
  }
  return bad == 0 && (low & (bytes - 1)) == 0;
}

// The memory of one lane's access, checked; nullptr after a fault.
std::byte* Warp::host_of(const Op& op, Space space, int lane, std::uint64_t address, std::uint32_t bytes, bool write) {
  std::uint64_t within = address;
  if (space == Space::generic) space = space_of(address, within);
  if ((within & (bytes - 1)) != 0) {
    memory_fault(Fault::Kind::misaligned, op, space, lane, within, bytes, "is not aligned");
    return nullptr;
  }
  Window window;
  if (!find_window(space, within, window) || window.bytes < bytes || within - window.base > window.bytes - bytes) {
    memory_fault(Fault::Kind::out_of_bounds, op, space, lane, within, bytes, "is out of bounds");
    return nullptr;
  }
  if (write && window.read_only) {
    memory_fault(Fault::Kind::read_only, op, space, lane, within, bytes, "writes memory that is read only");
    return nullptr;
  }
  return window.at(within, lane);
}

void Warp::memory_fault(Fault::Kind kind, const Op& op, Space space, int lane, std::uint64_t address,
                        std::uint32_t bytes, const char* problem) {
  Fault fault = fault_at(kind, lane,
                         fmt::format("{} {} of {} byte{} at {:#x} {}", space_name(space), doing_name(op), bytes,
                                     bytes == 1 ? "" : "s", address, problem));
  fault.address = address;
  fault.bytes = bytes;
  switch (space) {
    case Space::global:
    case Space::constant:
      fault.nearest = grid_->memory->nearest(address);
      break;
    case Space::shared:
      fault.nearest = fmt::format("the block has {} bytes of shared memory", block_->shared_.size());
      break;
    case Space::local:
      fault.nearest = fmt::format("the thread has {} bytes of local memory", program_->local_bytes);
      break;
    default:
      fault.nearest = fmt::format("the kernel has {} bytes of parameters", grid_->parameters.size());
      break;
  }
  raise(std::move(fault));
}

// Whether the port's log may hold newer values than memory does.
bool Warp::port_holds(Mask active, const Window& window) const {
  const Access& access = block_->access_;
  if (block_->port == nullptr || block_->port->empty() || access.space != Space::global) return false;
  bool any = false;
  for (Mask m = active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    any |= block_->port->may_hold(window.at(access.address[lane], lane));
  }
  return any;
}

// A store through a port. Lanes side by side whose row is what memory is to hold are one entry of its log.
bool Warp::log_row(const Op& op, Mask active, const Window& window) {
  const Memory& memory = op.memory;
  const auto& address = block_->access_.address;
  if (active != kAllLanes || memory.count != 1 || memory.row_bytes != memory.bytes) return false;
  for (int i = 1; i < kLanes; ++i)
    if (address[i] != address[0] + static_cast<std::uint64_t>(i) * memory.bytes) return false;
  const Frame frame = frame_of(paths_.now(), active);
  block_->port->store(window.at(address[0], 0), frame.source<std::byte>(op.operands.source[0]),
                      kLanes * std::uint32_t{memory.bytes});
  return true;
}

// The address of each lane of the next operation, without executing it; false: it is no memory operation.
bool Warp::peek(Access& out) {
  const Path& path = paths_.now();
  const Op& op = code_[path.pc];
  if (op.memory.bytes == 0) return false;
  const Mask active = guarded(op, path);
  if (active == 0) return false;
  Window window;
  locate(op, op.memory, active, window);
  out = block_->access_;
  return true;
}

void Warp::load(const Op& op, Mask active) {
  const Memory& memory = op.memory;
  const Frame frame = frame_of(paths_.now(), active);
  Window window;
  if (locate(op, memory, active, window) && !port_holds(active, window)) {
    const auto& address = block_->access_.address;
    if (memory.count == 1) {
      load_row(memory, window.origin(), window.lane_stride, address.data(), frame, op.operands.destination[0]);
    } else {
      for (int e = 0; e < memory.count; ++e)
        load_row(memory, window.origin() + static_cast<std::uintptr_t>(e * memory.bytes), window.lane_stride,
                 address.data(), frame, op.operands.more[static_cast<std::size_t>(e)]);
    }
  } else {
    const std::uint32_t bytes = std::uint32_t{memory.bytes} * memory.count;
    const Space space = block_->access_.space;
    for (Mask m = active; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const std::byte* from = host_of(op, space, lane, block_->access_.address[lane], bytes, false);
      if (from == nullptr) return;
      std::array<std::byte, 32> seen;
      if (block_->port != nullptr && space == Space::global) {
        block_->port->read(from, seen.data(), bytes);
        from = seen.data();
      }
      for (int e = 0; e < memory.count; ++e)
        load_lane(memory, from + e * memory.bytes, frame,
                  memory.count == 1 ? op.operands.destination[0] : op.operands.more[static_cast<std::size_t>(e)], lane);
    }
  }
  advance();
  spin(memory);
}

void Warp::store(const Op& op, Mask active) {
  const Memory& memory = op.memory;
  const Frame frame = frame_of(paths_.now(), active);
  Window window;
  const bool inside = locate(op, memory, active, window);
  const bool logged = block_->port != nullptr && block_->access_.space == Space::global;
  if (inside && logged && log_row(op, active, window)) {
    advance();
    return;
  }
  if (inside && !logged) {
    const auto& address = block_->access_.address;
    if (memory.count == 1) {
      store_row(memory, window.origin(), window.lane_stride, address.data(), frame, op.operands.source[0]);
    } else {
      for (int e = 0; e < memory.count; ++e)
        store_row(memory, window.origin() + static_cast<std::uintptr_t>(e * memory.bytes), window.lane_stride,
                  address.data(), frame, op.operands.more[static_cast<std::size_t>(e)]);
    }
  } else {
    const std::uint32_t bytes = std::uint32_t{memory.bytes} * memory.count;
    const Space space = block_->access_.space;
    for (Mask m = active; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      std::byte* to = inside ? window.at(block_->access_.address[lane], lane)
                             : host_of(op, space, lane, block_->access_.address[lane], bytes, true);
      if (to == nullptr) return;
      std::array<std::byte, 32> kept;
      std::byte* const place = logged ? kept.data() : to;
      for (int e = 0; e < memory.count; ++e)
        store_lane(memory, place + e * memory.bytes, frame,
                   memory.count == 1 ? op.operands.source[0] : op.operands.more[static_cast<std::size_t>(e)], lane);
      if (logged) block_->port->store(to, kept.data(), bytes);
    }
  }
  advance();
}

}  // namespace wm::exec
