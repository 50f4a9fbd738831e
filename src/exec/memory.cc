// Loads and stores of a warp: addresses, the memory behind them, bounds and alignment, faults.
//
// The usual access finds all its lanes in one piece of memory ("window"), which is looked up and checked once. Lanes in
// different pieces, and accesses that fault, go lane by lane.
#include <bit>
#include <cstring>
#include <fmt/format.h>

#include "exec/address_space.h"
#include "exec/block.h"
#include "exec/lane/rows.h"
#include "exec/memory_rows.h"
#include "exec/texture_access.h"
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

// The space that a generic address belongs to, and the address within that space.
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
    case Kind::surface_load:
    case Kind::surface_store:
    case Kind::surface_reduction:
      return "surface access";
    case Kind::texture:
    case Kind::texture_query:
      return "texture access";
    case Kind::store:
    case Kind::matrix_store:
      return "store";
    case Kind::async_copy:
      return "copy";
    case Kind::call:  // arguments of vprintf and similar functions
    case Kind::indirect_call:
      return "read";
    default:
      return "atomic";
  }
}

// The first generic address of a space's window.
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

// Kernels of other streams and the application may use such a word while this kernel polls it.
bool may_be_shared_with_threads(const Memory& memory) {
  return memory.spins && (memory.space == ptx::Space::global || memory.space == ptx::Space::generic);
}

}  // namespace

namespace {

// The address of a lane; a 32-bit one wraps at 32 bits.
template <typename Row>
std::uint64_t address_of(Row base, std::uint64_t offset) {
  return static_cast<Row>(base + static_cast<Row>(offset));
}

// Every lane's address; returns all bits that occur in their distances from `base`, which bounds these from above.
// Lanes that do not execute get the address of the first that does, so that what follows may look at all 32.
template <typename Row>
std::uint64_t addresses(const Row* row, std::uint64_t offset, std::uint64_t base, Mask active, std::uint64_t* out) {
  std::uint64_t bits = 0;
  if (active == kAllLanes) {
    WM_EACH_LANE {
      out[i] = address_of(row[i], offset);
      bits |= out[i] - base;
    }
    return bits;
  }
  const std::uint64_t first = address_of(row[std::countr_zero(active)], offset);
  WM_EACH_LANE {
    out[i] = ((active >> i) & 1U) != 0 ? address_of(row[i], offset) : first;
    bits |= out[i] - base;
  }
  return bits;
}

bool all_within(const std::uint64_t* address, std::uint64_t base, std::uint64_t limit) {
  std::uint64_t outside = 0;
  for (int i = 0; i < kLanes; ++i) outside |= static_cast<std::uint64_t>(address[i] - base > limit);
  return outside == 0;
}

}  // namespace

// The memory that holds `address` of a space; a generic address's, as the window it lies in.
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
    case Space::generic: {
      std::uint64_t within = 0;
      const Space own = space_of(address, within);
      if (!find_window(own, within, window)) return false;
      window.base += address - within;
      return true;
    }
    default:
      return false;
  }
}

// Fills the access's addresses and finds the memory they lie in: all of them where `inside` is set.
Warp::Window Warp::locate(const Op& op, const Memory& memory, const Frame& frame) {
  Access& access = block_->access_;
  const std::uint64_t bytes = std::uint64_t{memory.bytes} * memory.count;
  const auto offset = static_cast<std::uint64_t>(memory.offset);
  const int lead = std::countr_zero(frame.active);
  access.space = memory.space;
  access.bytes = static_cast<std::uint8_t>(bytes);
  access.lanes = frame.active;

  std::uint64_t first = offset;
  if (memory.base_bytes == 8)
    first = address_of(frame.source<std::uint64_t>(memory.base)[lead], offset);
  else if (memory.base_bytes == 4)
    first = address_of(frame.source<std::uint32_t>(memory.base)[lead], offset);
  Window window;
  bool found = true;
  if (memory.space == Space::shared)
    window = {block_->shared_.data(), 0, block_->shared_.size(), 0, false, false};
  else
    found = find_window(memory.space, first, window);
  found = found && window.bytes >= bytes && !(window.read_only && op.kind != Kind::load && op.kind != Kind::async_copy);

  std::uint64_t bits = first - window.base;
  std::uint64_t* address = access.address.data();
  if (memory.uniform)
    access.address.fill(first);
  else if (memory.base_bytes == 8)
    bits = addresses(frame.source<std::uint64_t>(memory.base), offset, window.base, frame.active, address);
  else
    bits = addresses(frame.source<std::uint32_t>(memory.base), offset, window.base, frame.active, address);
  window.inside = found && (bits & (bytes - 1)) == 0 &&
                  (bits <= window.bytes - bytes || all_within(address, window.base, window.bytes - bytes));
  if (!window.inside && grid_->memory->has_aliases()) resolve_aliases(op, memory, lead, window);
  if (memory.space == Space::generic) settle_generic(window);
  return window;
}

// Addresses that memory has besides those in its allocation become the latter, so that times do not depend on them.
void Warp::resolve_aliases(const Op& op, const Memory& memory, int lead, Window& window) {
  if (memory.space != Space::generic && memory.space != Space::global) return;
  Access& access = block_->access_;
  bool changed = false;
  for (std::uint64_t& address : access.address) {
    const std::uint64_t own = grid_->memory->without_alias(address);
    changed |= own != address;
    address = own;
  }
  if (!changed) return;
  const std::uint64_t bytes = access.bytes;
  std::uint64_t bits = 0;
  for (const std::uint64_t address : access.address) bits |= address;
  window = {};
  window.inside = find_window(memory.space, access.address[static_cast<std::size_t>(lead)], window) &&
                  window.bytes >= bytes &&
                  (!window.read_only || op.kind == Kind::load || op.kind == Kind::async_copy) &&
                  (bits & (bytes - 1)) == 0 && all_within(access.address.data(), window.base, window.bytes - bytes);
}

// Generic addresses that all lie in one space become addresses of that space.
void Warp::settle_generic(Window& window) {
  Access& access = block_->access_;
  std::uint64_t within = 0;
  const Space space = space_of(access.address[0], within);
  const std::uint64_t shift = access.address[0] - within;
  if (!window.inside)
    for (int i = 1; i < kLanes; ++i)
      if (space_of(access.address[i], within) != space) return;
  access.space = space;
  if (shift == 0) return;
  for (std::uint64_t& a : access.address) a -= shift;
  window.base -= shift;
}

// The memory of one lane's access, checked; nullptr after a fault.
std::byte* Warp::host_of(const Op& op, Space space, int lane, std::uint64_t address, std::uint32_t bytes, bool write) {
  if (space == Space::generic || space == Space::global) address = grid_->memory->without_alias(address);
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

bool Warp::peek(Access& out) {
  const Path& path = paths_.now();
  const Op& op = code_[path.pc];
  const Mask active = guarded(op, path);
  if (active == 0 || op.kind < Kind::load || op.kind > Kind::surface_reduction) return false;
  if (op.kind >= Kind::surface_load) {
    Mask inside = 0;
    const Frame frame = frame_of(path, active);
    if (place_on_surface(op, frame, *grid_->memory, block_->access_, inside) || inside == 0) return false;
  } else {
    locate(op, op.memory, frame_of(path, active));
  }
  out = block_->access_;
  return true;
}

bool Warp::load(const Op& op, const Frame& frame) {
  const Memory& memory = op.memory;
  const Window window = locate(op, memory, frame);
  const Access& access = block_->access_;
  if (ported() && port_holds(frame.active, window)) return port_load(op, frame, window);
  const auto element_row = [&](int e) {
    return memory.count == 1 ? op.operands.destination[0] : op.operands.more[static_cast<std::size_t>(e)];
  };
  const bool at_once = may_be_shared_with_threads(memory);
  if (window.inside && !at_once) {
    if (memory.uniform && window.lane_stride == 0) {
      const std::byte* from = window.at(access.address[0], 0);
      for (int e = 0; e < memory.count; ++e) load_broadcast(memory, from + e * memory.bytes, frame, element_row(e));
      return true;
    }
    const bool row = memory.count == 1 && window.lane_stride == 0 && in_a_row(access.address, memory.bytes);
    for (int e = 0; e < memory.count; ++e)
      load_row(memory, {window.origin() + static_cast<std::uintptr_t>(e * memory.bytes), window.lane_stride, row},
               access.address.data(), frame, element_row(e));
    return true;
  }
  const std::uint32_t bytes = std::uint32_t{memory.bytes} * memory.count;
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t address = access.address[lane];
    const std::byte* from =
        window.inside ? window.at(address, lane) : host_of(op, access.space, lane, address, bytes, false);
    if (from == nullptr) return false;
    for (int e = 0; e < memory.count; ++e) {
      (at_once ? load_lane_at_once : load_lane)(memory, from + e * memory.bytes, frame, element_row(e), lane);
    }
  }
  return true;
}

bool Warp::store(const Op& op, const Frame& frame) {
  const Memory& memory = op.memory;
  const Window window = locate(op, memory, frame);
  const Access& access = block_->access_;
  if (ported()) return port_store(op, frame, window);
  const auto element_row = [&](int e) {
    return memory.count == 1 ? op.operands.source[0] : op.operands.more[static_cast<std::size_t>(e)];
  };
  const bool at_once = may_be_shared_with_threads(memory);
  if (window.inside && !at_once) {
    const bool row = memory.count == 1 && window.lane_stride == 0 && in_a_row(access.address, memory.bytes);
    for (int e = 0; e < memory.count; ++e)
      store_row(memory, {window.origin() + static_cast<std::uintptr_t>(e * memory.bytes), window.lane_stride, row},
                access.address.data(), frame, element_row(e));
    return true;
  }
  const std::uint32_t bytes = std::uint32_t{memory.bytes} * memory.count;
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t address = access.address[lane];
    std::byte* to = window.inside ? window.at(address, lane) : host_of(op, access.space, lane, address, bytes, true);
    if (to == nullptr) return false;
    for (int e = 0; e < memory.count; ++e) {
      (at_once ? store_lane_at_once : store_lane)(memory, to + e * memory.bytes, frame, element_row(e), lane);
    }
  }
  return true;
}

// cvta and isspacep: between a space's own addresses and generic ones.
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
      std::uint64_t within = 0;
      in = space_of(address[i], within) == Space::global;
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
