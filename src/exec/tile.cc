// wmma.load and wmma.store.
#include "exec/tile.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/block.h"
#include "exec/global_port.h"
#include "exec/lane/mma.h"
#include "exec/warp.h"

namespace wm::exec {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

namespace {

// rows_over_lanes of lane/mma.h with a run that is known when the instruction executes.
Element place(std::uint32_t run, int row_blocks, int lane, std::uint32_t i) {
  switch (run) {
    case 1:
      return row_blocks == 2 ? rows_over_lanes<1, 2>(lane, static_cast<int>(i))
                             : rows_over_lanes<1, 1>(lane, static_cast<int>(i));
    case 2:
      return row_blocks == 2 ? rows_over_lanes<2, 2>(lane, static_cast<int>(i))
                             : rows_over_lanes<2, 1>(lane, static_cast<int>(i));
    default:
      return row_blocks == 2 ? rows_over_lanes<4, 2>(lane, static_cast<int>(i))
                             : rows_over_lanes<4, 1>(lane, static_cast<int>(i));
  }
}

}  // namespace

std::uint32_t Tile::pack() const {
  return 0x80000000U | static_cast<std::uint32_t>(matrix) | (column_major ? 4U : 0U) |
         std::uint32_t{element_bytes} << 4 | std::uint32_t{registers_per_side} << 8;
}

Tile Tile::unpack(std::uint32_t bits) {
  return {static_cast<Matrix>(bits & 3U), (bits & 4U) != 0, static_cast<std::uint8_t>(bits >> 4 & 0xfU),
          static_cast<std::uint8_t>(bits >> 8 & 0xfU)};
}

std::uint64_t Tile::offset(int lane, std::uint32_t index, std::uint32_t part, std::uint64_t stride) const {
  const std::uint32_t side = index / registers_per_side % 2, i = index % registers_per_side * parts() + part;
  std::uint64_t row = 0, column = 0;
  if (matrix == Matrix::a) {
    const Element e = place(parts(), 2, lane, i);
    row = static_cast<std::uint64_t>(e.row), column = static_cast<std::uint64_t>(e.column);
  } else if (matrix == Matrix::b) {
    const Element e = place(parts(), 1, lane, i);  // place in the transposed matrix
    row = static_cast<std::uint64_t>(e.column), column = static_cast<std::uint64_t>(e.row) + 8 * side;
  } else {
    const Element e = place(2, 2, lane, i);
    row = static_cast<std::uint64_t>(e.row), column = static_cast<std::uint64_t>(e.column) + 8 * side;
  }
  return column_major ? column * stride + row : row * stride + column;
}

Tile tile_of(const ptx::Instruction& i) {
  Tile tile;
  tile.matrix = i.opcode == Opcode::wmma_load_a   ? Tile::Matrix::a
                : i.opcode == Opcode::wmma_load_b ? Tile::Matrix::b
                                                  : Tile::Matrix::c;
  tile.column_major = i.has(Suffix::col);
  const Type type = i.type();
  const bool narrow = type == Type::f16 || type == Type::bf16, byte = type == Type::u8 || type == Type::s8;
  tile.element_bytes = narrow ? 2 : byte ? 1 : 4;
  if (tile.matrix == Tile::Matrix::a) tile.registers_per_side = byte ? 2 : 4;
  if (tile.matrix == Tile::Matrix::b) tile.registers_per_side = byte ? 1 : 2;
  if (tile.matrix == Tile::Matrix::c) tile.registers_per_side = narrow ? 2 : 4;
  return tile;
}

std::uint32_t packed_stride(const ptx::Instruction& i) {
  const bool eight = i.has(Suffix::m16n16k8);
  if (i.opcode == Opcode::wmma_load_a) return eight && !i.has(Suffix::col) ? 8 : 16;
  if (i.opcode == Opcode::wmma_load_b) return eight && i.has(Suffix::col) ? 8 : 16;
  return 16;
}

// Calls `body(register, lane, part, host)` for every element; false after a fault.
template <typename Body>
bool Warp::for_each_tile_element(const Op& op, const Frame& frame, bool write, Body&& body) {
  const Tile tile = Tile::unpack(op.targets);
  Memory first = op.memory;
  first.bytes = tile.element_bytes;
  first.count = 1;
  const Window window = locate(op, first, frame);
  Access& access = block_->access_;
  const std::uint64_t stride = frame.source<std::uint32_t>(op.operands.source[0])[std::countr_zero(frame.active)];
  const std::uint64_t base = access.address[static_cast<std::size_t>(std::countr_zero(frame.active))];
  const std::uint64_t furthest = (15 * stride + 16) * tile.element_bytes;
  const bool inside = window.inside && window.lane_stride == 0 && base - window.base + furthest <= window.bytes;
  for (std::uint32_t r = 0; r < op.operands.more.size(); ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t part = 0; part < tile.parts(); ++part) {
        const std::uint64_t address = base + tile.offset(lane, r, part, stride) * tile.element_bytes;
        std::byte* host =
            inside ? window.at(address, lane) : host_of(op, access.space, lane, address, tile.element_bytes, write);
        if (host == nullptr) return false;
        body(r, lane, part, host);
      }
    }
  }
  // For a simulator: two lanes share a row (or column) of the matrix.
  access.bytes = static_cast<std::uint8_t>(8 * tile.element_bytes);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    access.address[lane] = base + (lane / 2 * stride + lane % 2 * 8) * tile.element_bytes;
  return true;
}

bool Warp::tile_load(const Op& op, const Frame& frame) {
  const Tile tile = Tile::unpack(op.targets);
  for (const RegisterRow row : op.operands.more) std::memset(frame.destination<std::uint32_t>(row), 0, 4 * kLanes);
  return for_each_tile_element(
      op, frame, false, [&](std::uint32_t r, int lane, std::uint32_t part, const std::byte* host) {
        std::uint32_t value = 0;
        if (ported())
          block_->port->read(host, reinterpret_cast<std::byte*>(&value), tile.element_bytes);
        else
          std::memcpy(&value, host, tile.element_bytes);
        frame.destination<std::uint32_t>(op.operands.more[r])[lane] |= value << (part * tile.element_bytes * 8);
      });
}

bool Warp::tile_store(const Op& op, const Frame& frame) {
  const Tile tile = Tile::unpack(op.targets);
  return for_each_tile_element(op, frame, true, [&](std::uint32_t r, int lane, std::uint32_t part, std::byte* host) {
    const std::uint32_t value =
        frame.source<std::uint32_t>(op.operands.more[r])[lane] >> (part * tile.element_bytes * 8);
    if (ported())
      block_->port->store(host, reinterpret_cast<const std::byte*>(&value), tile.element_bytes);
    else
      std::memcpy(host, &value, tile.element_bytes);
  });
}

}  // namespace wm::exec
