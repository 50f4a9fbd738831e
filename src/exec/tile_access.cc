// wmma.load and wmma.store.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/block.h"
#include "exec/global_port.h"
#include "exec/warp.h"

namespace wm::exec {

// Calls `body(register, lane, part, host)` for every element; false after a fault.
template <typename Body>
bool Warp::for_each_tile_element(const Op& op, const Frame& frame, bool write, Body&& body) {
  const TilePlaces& fragment = program_->tiles[op.targets - 1];
  const Tile& tile = fragment.tile;
  Memory first = op.memory;
  first.bytes = tile.element_bytes;
  first.count = 1;
  const Window window = locate(op, first, frame);
  Access& access = block_->access_;
  const auto lead = static_cast<std::size_t>(std::countr_zero(frame.active));
  const std::uint64_t stride = frame.source<std::uint32_t>(op.operands.source[0])[lead] >> tile.stride_shift;
  const std::uint64_t base = access.address[lead], bytes = tile.element_bytes;
  const std::uint64_t lines = tile.column_major ? tile.columns : tile.rows;
  const std::uint64_t length = tile.column_major ? tile.rows : tile.columns;
  const std::uint64_t furthest = ((lines - 1) * stride + length) * bytes;
  const bool inside = window.inside && window.lane_stride == 0 && base - window.base + furthest <= window.bytes;
  const std::uint64_t row_step = (tile.column_major ? 1 : stride) * bytes;
  const std::uint64_t column_step = (tile.column_major ? stride : 1) * bytes;
  const TilePlaces::Place* place = fragment.places.data();
  for (std::uint32_t r = 0; r < op.operands.more.size(); ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t part = 0; part < tile.parts(); ++part, ++place) {
        const std::uint64_t address = base + place->row * row_step + place->column * column_step;
        std::byte* host =
            inside ? window.at(address, lane) : host_of(op, access.space, lane, address, tile.element_bytes, write);
        if (host == nullptr) return false;
        body(r, lane, part, host);
      }
    }
  }
  // For a simulator: the lanes share the rows (or columns) of the matrix.
  const std::uint64_t lanes_per_line = kLanes / lines, share = length * bytes / lanes_per_line;
  access.bytes = static_cast<std::uint8_t>(share);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    access.address[lane] = base + lane / lanes_per_line * stride * bytes + lane % lanes_per_line * share;
  return true;
}

namespace {

// Moves one element; the size is a constant in each case, so that no function is called.
void copy_element(void* to, const void* from, std::uint32_t bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    default:
      std::memcpy(to, from, 8);
      return;
  }
}

}  // namespace

bool Warp::tile_load(const Op& op, const Frame& frame) {
  const Tile& tile = program_->tiles[op.targets - 1].tile;
  const std::size_t register_bytes = std::max<std::size_t>(4, tile.element_bytes);
  return for_each_tile_element(
      op, frame, false, [&](std::uint32_t r, int lane, std::uint32_t part, const std::byte* host) {
        std::byte* to = frame.destination<std::byte>(op.operands.more[r]) +
                        static_cast<std::size_t>(lane) * register_bytes + part * tile.element_bytes;
        if (ported())
          block_->port->read(host, to, tile.element_bytes);
        else
          copy_element(to, host, tile.element_bytes);
      });
}

bool Warp::tile_store(const Op& op, const Frame& frame) {
  const Tile& tile = program_->tiles[op.targets - 1].tile;
  const std::size_t register_bytes = std::max<std::size_t>(4, tile.element_bytes);
  return for_each_tile_element(op, frame, true, [&](std::uint32_t r, int lane, std::uint32_t part, std::byte* host) {
    const std::byte* from = frame.source<std::byte>(op.operands.more[r]) +
                            static_cast<std::size_t>(lane) * register_bytes + part * tile.element_bytes;
    if (ported())
      block_->port->store(host, from, tile.element_bytes);
    else
      copy_element(host, from, tile.element_bytes);
  });
}

}  // namespace wm::exec
