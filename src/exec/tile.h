// The fragments of wmma: how the 16 x 16 (tf32: 16 x 8) matrices a, b and c lie in the registers of a warp and in
// memory.
//
// PTX leaves the places of the elements in a fragment to the implementation. Here they are those of two mma
// instructions (lane/mma.h) for the left and the right eight columns, so that wmma.mma needs no exchange between lanes.
#pragma once

#include <cstdint>

#include "ptx/ir.h"

namespace wm::exec {

struct Tile {
  enum class Matrix : std::uint8_t { a, b, c };
  Matrix matrix = Matrix::a;
  bool column_major = false;
  std::uint8_t element_bytes = 2;
  std::uint8_t registers_per_side = 4;  // before the registers of the right columns (b, c), or before copies (a)

  // For Op::targets; never 0.
  [[nodiscard]] std::uint32_t pack() const;
  static Tile unpack(std::uint32_t bits);

  // Element `part` of register `index` of a lane: its distance in elements from the matrix's first one, with rows (or
  // columns, if column_major) `stride` elements apart.
  [[nodiscard]] std::uint64_t offset(int lane, std::uint32_t index, std::uint32_t part, std::uint64_t stride) const;
  [[nodiscard]] std::uint32_t parts() const { return 4U / element_bytes; }
};

[[nodiscard]] Tile tile_of(const ptx::Instruction& instruction);
// The stride of a matrix without one in the instruction: the length of its rows or columns.
[[nodiscard]] std::uint32_t packed_stride(const ptx::Instruction& instruction);

}  // namespace wm::exec
