// The layout of a matrix in the registers of a warp, for each shape of mma.
//
// A layout tells, for lane and element (the i-th value the lane holds, counted through its registers from the low bits
// up), the row and the column in A (m x k), B transposed (n x k) or C and D (m x n). `quad`, m8n8k4 of f16, is four
// products at once, each by eight lanes: `product` says which.
#pragma once

namespace wm::exec {

struct Element {
  int row = 0;
  int column = 0;
  int product = 0;
};

using Layout32 = Element (*)(int lane, int i);

// The four lanes of a row share its columns; lane / 4 is the row.
constexpr int quarter(int lane) { return lane / 4; }
constexpr int within(int lane) { return lane % 4; }

// Rows in blocks of 8, columns in blocks of 4 * Run, with Run neighbours in one lane; an element's index counts through
// the run, then through the row blocks, then through the column blocks.
template <int Run, int RowBlocks>
constexpr Element rows_over_lanes(int lane, int i) {
  const int run = i % Run, block = i / Run;
  return {quarter(lane) + 8 * (block % RowBlocks), within(lane) * Run + run + 4 * Run * (block / RowBlocks), 0};
}
// m8n8k4 of f16: lanes l and l + 16 of the same four work together, the second on the upper half.
constexpr int quad_product(int lane) { return quarter(lane) % 4; }
constexpr int quad_row(int lane) { return within(lane) + (lane < 16 ? 0 : 4); }

constexpr Element quad_lane_row(int lane, int i) { return {quad_row(lane), i, quad_product(lane)}; }
constexpr Element quad_lane_column(int lane, int i) {
  return {i + (lane < 16 ? 0 : 4), within(lane), quad_product(lane)};
}
constexpr Element quad_sums32(int lane, int i) {
  return {(lane & 1) + (i & 2) + (lane < 16 ? 0 : 4), (i & 4) + (lane & 2) + (i & 1), quad_product(lane)};
}

}  // namespace wm::exec
