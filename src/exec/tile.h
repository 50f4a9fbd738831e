// The fragments of wmma: how the elements of the matrices a, b and c lie in the registers of a warp and in memory.
//
// PTX leaves the places of the elements in a fragment to the implementation. Results of 16 x 16 have those of two mma
// instructions (lane/mma_layout.h) for the left and the right eight columns, so that wmma.mma needs no exchange between
// lanes; results of 8 x 8 those of mma. The fragments of 8 x 32 and 32 x 8 results hold element number e, counted along
// the rows of the matrix, in lane e % 32. Elements narrower than a byte are moved as words of eight or 32.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.h"

namespace wm::exec {

struct Tile {
  enum class Matrix : std::uint8_t { a, b, c };
  Matrix matrix = Matrix::a;
  bool column_major = false;
  bool along_rows = false;              // places of 8 x 32 and 32 x 8 results
  std::uint8_t element_bytes = 2;       // size of an element, or of a word of elements
  std::uint8_t registers_per_side = 4;  // before the registers of the right columns (b, c), or before copies (a)
  std::uint8_t rows = 16;               // extents of the matrix
  std::uint8_t columns = 16;
  std::uint8_t stride_shift = 0;  // log2 of the elements in a word: strides count elements

  [[nodiscard]] std::uint32_t parts() const { return element_bytes >= 4 ? 1U : 4U / element_bytes; }
};

// The row and the column of every element of a fragment: by register, then by lane, then by its part of the register.
struct TilePlaces {
  struct Place {
    std::uint8_t row = 0;
    std::uint8_t column = 0;
  };
  Tile tile;
  std::vector<Place> places;
};

[[nodiscard]] TilePlaces tile_places(const ptx::Instruction& instruction, std::uint32_t registers);
// The stride of a matrix without one in the instruction: the length of its rows or columns, in elements.
[[nodiscard]] std::uint32_t packed_stride(const Tile& tile);

}  // namespace wm::exec
