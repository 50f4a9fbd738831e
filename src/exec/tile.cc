#include "exec/tile.h"

#include "exec/lane/mma_layout.h"
#include "exec/lanes.h"

namespace wm::exec {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

namespace {

// rows_over_lanes of lane/mma_layout.h with a run that is known when the instruction is decoded.
Element place(std::uint32_t run, bool two_blocks, int lane, std::uint32_t index) {
  const int i = static_cast<int>(index);
  switch (run) {
    case 1:
      return two_blocks ? rows_over_lanes<1, 2>(lane, i) : rows_over_lanes<1, 1>(lane, i);
    case 2:
      return two_blocks ? rows_over_lanes<2, 2>(lane, i) : rows_over_lanes<2, 1>(lane, i);
    default:
      return two_blocks ? rows_over_lanes<4, 2>(lane, i) : rows_over_lanes<4, 1>(lane, i);
  }
}

TilePlaces::Place place_of(const Tile& tile, int lane, std::uint32_t index, std::uint32_t part) {
  if (tile.along_rows) {
    const std::uint32_t e = ((index * tile.parts() + part) * kLanes + static_cast<std::uint32_t>(lane)) %
                            (std::uint32_t{tile.rows} * tile.columns);
    return {static_cast<std::uint8_t>(e / tile.columns), static_cast<std::uint8_t>(e % tile.columns)};
  }
  const std::uint32_t side = index / tile.registers_per_side % 2;
  const std::uint32_t i = index % tile.registers_per_side * tile.parts() + part;
  const auto right = static_cast<int>(8 * side);
  if (tile.matrix == Tile::Matrix::a) {
    const Element e = place(tile.parts(), tile.rows == 16, lane, i);
    return {static_cast<std::uint8_t>(e.row), static_cast<std::uint8_t>(e.column)};
  }
  if (tile.matrix == Tile::Matrix::b) {
    const Element e = place(tile.parts(), false, lane, i);  // place in the transposed matrix
    return {static_cast<std::uint8_t>(e.column), static_cast<std::uint8_t>(e.row + right)};
  }
  const Element e = place(2, tile.rows == 16, lane, i);
  return {static_cast<std::uint8_t>(e.row), static_cast<std::uint8_t>(e.column + right)};
}

struct Extents {
  std::uint8_t m, n, k;  // k in elements, or in words of elements narrower than a byte
  bool along_rows;
};
Extents extents(const ptx::Instruction& i) {
  if (i.has(Suffix::m16n16k8)) return {16, 16, 8, false};
  if (i.has(Suffix::m8n32k16)) return {8, 32, 16, true};
  if (i.has(Suffix::m32n8k16)) return {32, 8, 16, true};
  const bool small = i.has(Suffix::m8n8k4) || i.has(Suffix::m8n8k32) || i.has(Suffix::m8n8k128);
  if (small) return {8, 8, 4, false};
  return {16, 16, 16, false};
}

Tile tile_of(const ptx::Instruction& i) {
  Tile tile;
  tile.matrix = i.opcode == Opcode::wmma_load_a   ? Tile::Matrix::a
                : i.opcode == Opcode::wmma_load_b ? Tile::Matrix::b
                                                  : Tile::Matrix::c;
  tile.column_major = i.has(Suffix::col);
  const Type type = i.type();
  const int bits = ptx::bits(type);
  if (bits < 8) tile.stride_shift = bits == 1 ? 5 : 3;
  tile.element_bytes = static_cast<std::uint8_t>(bits < 8 ? 4 : bits / 8);
  const Extents e = extents(i);
  tile.along_rows = e.along_rows;
  tile.rows = tile.matrix == Tile::Matrix::b ? e.k : e.m;
  tile.columns = tile.matrix == Tile::Matrix::a ? e.k : e.n;
  // A side of a fragment with the places of mma has eight columns of b and c, or all columns of a.
  const std::uint32_t columns = tile.matrix == Tile::Matrix::a ? tile.columns : 8U;
  tile.registers_per_side = static_cast<std::uint8_t>(std::uint32_t{tile.rows} * columns / kLanes / tile.parts());
  return tile;
}

}  // namespace

TilePlaces tile_places(const ptx::Instruction& instruction, std::uint32_t registers) {
  TilePlaces result{tile_of(instruction), {}};
  for (std::uint32_t r = 0; r < registers; ++r)
    for (int lane = 0; lane < kLanes; ++lane)
      for (std::uint32_t part = 0; part < result.tile.parts(); ++part)
        result.places.push_back(place_of(result.tile, lane, r, part));
  return result;
}

std::uint32_t packed_stride(const Tile& tile) {
  return std::uint32_t{tile.column_major ? tile.rows : tile.columns} << tile.stride_shift;
}

}  // namespace wm::exec
