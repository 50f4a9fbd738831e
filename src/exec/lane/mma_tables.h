// Where the elements of a fragment lie in a matrix, as tables made at compile time from the layouts of mma.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "exec/lane/mma.h"
#include "exec/lanes.h"

namespace wm::exec {

// By element of a lane, then by lane: the index of the element in a matrix with `Columns` columns.
template <std::size_t Count>
using ElementTable = std::array<std::array<std::uint16_t, kLanes>, Count>;

// `Transposed`: rows and columns of the layout change places in the matrix.
template <Layout32 Layout, std::size_t Count, int Columns, bool Transposed = false>
constexpr ElementTable<Count> element_table() {
  ElementTable<Count> table{};
  for (std::size_t i = 0; i < Count; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const Element e = Layout(lane, static_cast<int>(i));
      const int row = Transposed ? e.column : e.row, column = Transposed ? e.row : e.column;
      table[i][static_cast<std::size_t>(lane)] = static_cast<std::uint16_t>(row * Columns + column);
    }
  }
  return table;
}

// The same elements of a matrix of `rows` rows and eight columns that is stored as its left four columns, then its
// right.
template <std::size_t Count>
constexpr ElementTable<Count> by_side(ElementTable<Count> table, int rows) {
  for (auto& row_of_table : table)
    for (std::uint16_t& index : row_of_table) {
      const int row = index / 8, column = index % 8;
      index = static_cast<std::uint16_t>((column / 4 * rows + row) * 4 + column % 4);
    }
  return table;
}

}  // namespace wm::exec
