// Copies that are not loads or stores of one register (cp.async, ldmatrix, stmatrix), mbarrier, which counts them, and
// accesses to textures and surfaces.
#include <array>
#include <bit>
#include <cstring>

#include "exec/block.h"
#include "exec/global_port.h"
#include "exec/mbarrier.h"
#include "exec/memory_rows.h"
#include "exec/texture_access.h"
#include "exec/warp.h"

namespace wm::exec {

using ptx::Space;

// The copy is executed when it is issued: a correct program waits before it reads the data, so it cannot observe this.
// operands: source[0] the shared address row, source[1] how many bytes come from memory (the rest are zero), source[2]
// a predicate that, when true, takes none from memory.
bool Warp::async_copy(const Op& op, const Frame& frame) {
  const Memory& memory = op.memory;
  const Memory target = program_->second_access[op.target];
  // The shared side first, so that the addresses left in `access` for a simulator are the global ones.
  locate(op, target, frame);
  const Access to_access = block_->access_;
  locate(op, memory, frame);
  const Access& access = block_->access_;
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* to = host_of(op, to_access.space, lane, to_access.address[lane], target.bytes, true);
    if (to == nullptr) return false;
    std::uint32_t wanted = memory.bytes;
    if (!op.operands.source[1].none())
      wanted = std::min(wanted, frame.source<std::uint32_t>(op.operands.source[1])[lane]);
    if (!op.operands.source[2].none()) {
      const Mask ignore = frame.predicate(op.operands.source[2]) ^ (op.operands.negated[2] ? kAllLanes : 0U);
      if ((ignore >> lane) & 1U) wanted = 0;
    }
    if (wanted != 0) {
      // All bytes of the source must be allocated, even if only a part is copied.
      const std::byte* from = host_of(op, access.space, lane, access.address[lane], memory.bytes, false);
      if (from == nullptr) return false;
      if (ported())
        block_->port->read(from, to, wanted);
      else
        std::memcpy(to, from, wanted);
    }
    std::memset(to + wanted, 0, memory.bytes - wanted);
  }
  return true;
}

namespace {

// The place of element (row, column) of an 8x8 matrix of 16-bit values in a warp: its lane and which half of the
// register.
struct Cell {
  int lane;
  int half;
};
Cell cell(int row, int column, bool transposed) {
  if (transposed) std::swap(row, column);
  return {row * 4 + column / 2, column % 2};
}

}  // namespace

// Lanes 8k .. 8k+7 give the addresses of the rows of matrix k. The registers of the other lanes may hold anything, so
// that only these lanes decide which space generic addresses lie in.
void Warp::settle_matrix(std::size_t count) {
  Access& access = block_->access_;
  if (access.space != Space::generic) return;
  for (std::size_t lane = count * 8; lane < kLanes; ++lane) access.address[lane] = access.address[lane % (count * 8)];
  Window window;
  settle_generic(window);
}

bool Warp::matrix_load(const Op& op, const Frame& frame) {
  if (op.targets != 0) return tile_load(op, frame);
  const auto count = static_cast<std::size_t>(op.memory.count);
  Memory row = op.memory;
  row.bytes = 16;
  row.count = 1;
  const Window window = locate(op, row, frame);
  settle_matrix(count);
  const Access& access = block_->access_;
  std::uint16_t cells[4][8][8];
  for (std::size_t k = 0; k < count; ++k) {
    for (int r = 0; r < 8; ++r) {
      const int lane = static_cast<int>(k) * 8 + r;
      const std::uint64_t address = access.address[static_cast<std::size_t>(lane)];
      const std::byte* from =
          window.inside ? window.at(address, lane) : host_of(op, access.space, lane, address, 16, false);
      if (from == nullptr) return false;
      std::memcpy(cells[k][r], from, 16);
    }
  }
  const bool transposed = op.memory.sign_extend;
  for (std::size_t k = 0; k < count; ++k) {
    auto* out = frame.destination<std::uint32_t>(op.operands.more[k]);
    if (!transposed) {  // four lanes hold a row of memory as it is
      std::memcpy(out, cells[k], sizeof cells[k]);
      continue;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t column = lane / 4, row = lane % 4 * 2;
      out[lane] = std::uint32_t{cells[k][row][column]} | std::uint32_t{cells[k][row + 1][column]} << 16;
    }
  }
  return true;
}

// movmatrix: an 8x8 matrix from one register into another, rows and columns changing places.
void Warp::matrix_move(const Op& op, const Frame& frame) {
  std::uint32_t in[kLanes];
  std::memcpy(in, frame.source<std::uint32_t>(op.operands.source[0]), sizeof in);
  auto* out = frame.destination<std::uint32_t>(op.operands.destination[0]);
  for (int r = 0; r < 8; ++r) {
    for (int c = 0; c < 8; ++c) {
      const Cell from = cell(r, c, false);
      const Cell to = cell(r, c, true);
      const std::uint32_t value = (in[from.lane] >> (from.half * 16)) & 0xffffU;
      const std::uint32_t shift = to.half * 16U;
      out[to.lane] = (out[to.lane] & ~(0xffffU << shift)) | value << shift;
    }
  }
}

bool Warp::matrix_store(const Op& op, const Frame& frame) {
  if (op.targets != 0) return tile_store(op, frame);
  const auto count = static_cast<std::size_t>(op.memory.count);
  Memory row = op.memory;
  row.bytes = 16;
  row.count = 1;
  locate(op, row, frame);
  settle_matrix(count);
  const Access& access = block_->access_;
  const bool transposed = op.memory.sign_extend;
  for (std::size_t k = 0; k < count; ++k) {
    const auto* in = frame.source<std::uint32_t>(op.operands.more[k]);
    for (int r = 0; r < 8; ++r) {
      const int lane = static_cast<int>(k) * 8 + r;
      std::uint16_t values[8];
      for (int c = 0; c < 8; ++c) {
        const Cell at = cell(r, c, transposed);
        values[c] = static_cast<std::uint16_t>(in[at.lane] >> (at.half * 16));
      }
      std::byte* to = host_of(op, access.space, lane, access.address[lane], 16, true);
      if (to == nullptr) return false;
      std::memcpy(to, values, 16);
    }
  }
  return true;
}

namespace {

// One lane's operation; false after a mistake. `operand` is a count, bytes, a parity, or the state of an earlier
// arrival.
bool apply(Mode mode, Mbarrier& b, std::uint64_t operand, bool& passed) {
  const auto number = static_cast<std::uint32_t>(operand);
  switch (mode) {
    case Mode::mbarrier_init:
      b = Mbarrier::initial(number);
      return number != 0 && number <= Mbarrier::kMaxCount;
    case Mode::mbarrier_inval:
      b = Mbarrier(0);
      return true;
    case Mode::mbarrier_expect:
      return b.expect(number);
    case Mode::mbarrier_complete:
      return b.complete(number);
    case Mode::mbarrier_arrive:
      return b.arrive(number);
    case Mode::mbarrier_drop:
      return b.drop(number);
    case Mode::mbarrier_arrive_expect:
      return b.expect(number) && b.arrive(1);
    case Mode::mbarrier_drop_expect:
      return b.expect(number) && b.drop(1);
    case Mode::mbarrier_wait:
      passed = b.phase() != Mbarrier(operand).phase();
      return true;
    default:
      passed = (b.phase() & 1U) != (number & 1U);
      return true;
  }
}

bool is_wait(Mode mode) { return mode == Mode::mbarrier_wait || mode == Mode::mbarrier_wait_parity; }

}  // namespace

// operands: source[0] as `apply` takes it, destination[0] the state before an arrival, or the predicate of a wait. A
// wait that fails ends the warp's turn, since other warps must arrive.
bool Warp::mbarrier(const Op& op, const Frame& frame) {
  if (op.mode == Mode::mbarrier_pending) {
    const auto* state = frame.source<std::uint64_t>(op.operands.source[0]);
    auto* to = frame.destination<std::uint32_t>(op.operands.destination[0]);
    for (Mask m = frame.active; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      to[lane] = Mbarrier(state[lane]).pending();
    }
    return true;
  }
  const Window window = locate(op, op.memory, frame);
  const Access& access = block_->access_;
  const RegisterRow operand = op.operands.source[0], to = op.operands.destination[0];
  Mask passed = 0;
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t address = access.address[static_cast<std::size_t>(lane)];
    std::byte* at = window.inside ? window.at(address, lane) : host_of(op, access.space, lane, address, 8, true);
    if (at == nullptr) return false;
    if (access.space != ptx::Space::shared) {
      raise(fault_at(Fault::Kind::illegal_instruction, lane, "mbarrier outside of shared memory"));
      return false;
    }
    std::uint64_t word = 0, number = 1;
    std::memcpy(&word, at, sizeof word);
    if (!operand.none())
      number = op.mode == Mode::mbarrier_wait ? frame.source<std::uint64_t>(operand)[lane]
                                              : frame.source<std::uint32_t>(operand)[lane];
    Mbarrier after(word);
    bool lane_passed = false;
    if (!apply(op.mode, after, number, lane_passed)) {
      raise(fault_at(Fault::Kind::illegal_instruction, lane, "mbarrier counts more than was announced"));
      return false;
    }
    if (lane_passed) passed |= Mask{1} << lane;
    // The state that an arrival returns is the object before it.
    if (!is_wait(op.mode) && !to.none()) frame.destination<std::uint64_t>(to)[lane] = word;
    const std::uint64_t changed = after.word();
    std::memcpy(at, &changed, sizeof changed);
  }
  if (!is_wait(op.mode)) return true;
  auto* mask = frame.destination<Mask>(to);
  *mask = (*mask & ~frame.active) | passed;
  yields_ = yields_ || passed != frame.active;
  return true;
}

bool Warp::texture(const Op& op, const Frame& frame) {
  const auto fault = op.kind == Kind::texture ? fetch_texels(op, frame, *grid_->memory, block_->access_)
                                              : query_texture(op, frame, *grid_->memory);
  if (fault) raise(fault_at(fault->kind, fault->lane, fault->what));
  return !fault;
}

bool Warp::move_on_surface(const Op& op, const Frame& frame) {
  const Memory& memory = op.memory;
  const Access& access = block_->access_;
  const bool is_load = op.kind == Kind::surface_load;
  const std::uint32_t bytes = std::uint32_t{memory.bytes} * memory.count;
  for (Mask m = frame.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::byte* at = host_of(op, access.space, lane, access.address[static_cast<std::size_t>(lane)], bytes, !is_load);
    if (at == nullptr) return false;
    for (std::size_t e = 0; e < memory.count; ++e) {
      const RegisterRow one = is_load ? op.operands.destination[0] : op.operands.source[0];
      const RegisterRow row = memory.count == 1 ? one : op.operands.more[e];
      if (is_load)
        load_lane(memory, at + e * memory.bytes, frame, row, lane);
      else
        store_lane(memory, at + e * memory.bytes, frame, row, lane);
    }
  }
  return true;
}

bool Warp::surface(const Op& op, const Frame& frame) {
  Mask inside = 0;
  if (const auto fault = place_on_surface(op, frame, *grid_->memory, block_->access_, inside)) {
    raise(fault_at(fault->kind, fault->lane, fault->what));
    return false;
  }
  if (op.kind == Kind::surface_load) {
    constexpr std::array<std::byte, 16> kZero{};
    for (Mask m = frame.active & ~inside; m != 0; m &= m - 1)
      for (std::size_t e = 0; e < op.memory.count; ++e)
        load_lane(op.memory, kZero.data(), frame,
                  op.memory.count == 1 ? op.operands.destination[0] : op.operands.more[e], std::countr_zero(m));
  }
  if (inside == 0) return true;
  Frame part = frame;
  part.active = inside;
  const Window unknown;
  switch (op.kind) {
    case Kind::surface_load:
      return ported() ? port_load(op, part, unknown) : move_on_surface(op, part);
    case Kind::surface_store:
      return ported() ? port_store(op, part, unknown) : move_on_surface(op, part);
    default:
      return ported() ? defer_atomic(op, part, unknown) : atomic_at_once(op, part, unknown);
  }
}

}  // namespace wm::exec
