// The routines of mma, and of wmma where it is executed as mma.
#pragma once

#include <bit>

#include "exec/lane/fragments.h"
#include "exec/lane/tensor_product.h"

namespace wm::exec {

// V: elements of A and B; C and D: what is added, and the sums.
template <typename V, typename C, typename D, int K>
void tensor_product(const Operands& operands, const Frame& frame) {
  if (TensorProduct<V, C, D, K>::run(operands, frame)) return;
  constexpr int kPer = 4 / sizeof(V), kPerC = 4 / sizeof(C), kPerD = 4 / sizeof(D);
  Fragments<V, V, D, kPer, kPerD, false, C, kPerC>{
      rows_over_lanes<kPer, 2>, rows_over_lanes<kPer, 1>, kSums, {16, 8, K, 1}}
      .multiply(operands, frame);
}

template <int M, int K>
void double_product(const Operands& operands, const Frame& frame) {
  Fragments<double, double, double, 1, 1>{
      rows_over_lanes<1, M / 8>, rows_over_lanes<1, 1>, M == 8 ? kSums8 : kSums, {M, 8, K, 1}}
      .multiply(operands, frame);
}

template <typename V, typename W, int Per, int M, int K>
void integer_product(const Operands& operands, const Frame& frame) {
  Fragments<V, W, std::int32_t, Per, 1>{
      rows_over_lanes<Per, M / 8>, rows_over_lanes<Per, 1>, M == 8 ? kSums8 : kSums, {M, 8, K, 1}}
      .multiply(operands, frame);
}

// Matrices of bits, 32 of a row in a register.
template <int M, int K, bool Exclusive>
void bit_product(const Operands& operands, const Frame& frame) {
  constexpr std::size_t kBlocks = M / 8, kSumRegisters = 2 * kBlocks, kBs = K / 128, kAs = kBlocks * kBs;
  const auto d = operands.more.first(kSumRegisters), a = operands.more.subspan(kSumRegisters, kAs);
  const auto b = operands.more.subspan(kSumRegisters + kAs, kBs), c = operands.more.last(kSumRegisters);
  std::array<std::array<std::uint32_t, kLanes>, kSumRegisters> sums;  // written last: D may be C
  for (std::size_t r = 0; r < kSumRegisters; ++r) {
    const auto* before = frame.source<std::uint32_t>(c[r]);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t n = lane % 4 * 2 + r % 2;
      std::uint32_t count = before[lane];
      for (std::size_t part = 0; part < kBs; ++part) {
        const auto* x = frame.source<std::uint32_t>(a[part * kBlocks + r / 2]) + lane / 4 * 4;
        const auto* y = frame.source<std::uint32_t>(b[part]) + n * 4;
        for (std::size_t word = 0; word < 4; ++word)
          count += static_cast<std::uint32_t>(std::popcount(Exclusive ? x[word] ^ y[word] : x[word] & y[word]));
      }
      sums[r][lane] = count;
    }
  }
  for (std::size_t r = 0; r < kSumRegisters; ++r)
    blend(frame.destination<std::uint32_t>(d[r]), sums[r].data(), frame.active);
}

// Calls `body` with a value of the signed or unsigned type for each of two operands.
template <typename Signed, typename Unsigned, typename Body>
LaneOp by_signs(bool first, bool second, Body&& body) {
  if (first) return second ? body(Signed{}, Signed{}) : body(Signed{}, Unsigned{});
  return second ? body(Unsigned{}, Signed{}) : body(Unsigned{}, Unsigned{});
}

}  // namespace wm::exec
