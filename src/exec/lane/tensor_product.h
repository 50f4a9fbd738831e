// m16n8kK of f16, bf16 and tf32, by whole registers.
//
// A register of a fragment of A is eight rows of the matrix, one after the other, with the columns that the four lanes
// of a row hold; a register of B is the same of B transposed. Registers of C and D hold the even or the odd columns of
// eight rows. So even and odd columns are computed apart, and C and D need no rearrangement.
#pragma once

#include <array>
#include <cstring>
#include <span>

#include "exec/lane/mma_float.h"

namespace wm::exec {

// V: elements of A and B; C: what is added; D: the sums.
template <typename V, typename C, typename D, std::size_t K>
class TensorProduct {
 public:
  // Returns false, and writes nothing, where a number is not finite or a sum is near the ends of the range.
  static bool run(const Operands& operands, const Frame& frame) {
    TensorProduct product;
    const auto registers = operands.more;
    if (!product.load_a(registers.subspan(kSums, kAs), frame)) return false;
    if (!product.load_b(registers.subspan(kSums + kAs, kBs), frame)) return false;
    product.load_c(registers.last(kStarts), frame);
    if (!product.multiply()) return false;
    product.store(registers.first(kSums), frame);
    return true;
  }

 private:
  static constexpr std::size_t kM = 16, kSides = 2, kRows = 8;           // a register has eight rows
  static constexpr std::size_t kPer = 4 / sizeof(V), kBlock = 4 * kPer;  // columns of a row in a register
  static constexpr std::size_t kAs = kM / kRows * K / kBlock, kBs = K / kBlock, kHalves = kM / kRows;
  static constexpr bool kNarrowC = sizeof(C) == 2, kNarrowD = sizeof(D) == 2;  // both sides in one register
  static constexpr std::size_t kSums = kNarrowD ? kHalves : kHalves * kSides,
                               kStarts = kNarrowC ? kHalves : kHalves * kSides;

  using Block = std::array<Bits<V>, kRows * kBlock>;
  static Block block_of(const Frame& frame, RegisterRow row) {
    Block block;
    std::memcpy(block.data(), frame.source<std::byte>(row), sizeof block);
    return block;
  }

  bool load_a(std::span<const RegisterRow> registers, const Frame& frame) {
    Converter<V> converter;
    for (std::size_t r = 0; r < kAs; ++r) {
      const Block block = block_of(frame, registers[r]);
      for (std::size_t row = 0; row < kRows; ++row) {
        const std::size_t at = (r % kHalves * kRows + row) * K + r / kHalves * kBlock;
        static_assert(kBlock == Converter<V>::kAtOnce);
        converter.convert(&block[row * kBlock], &a_[at], &ea_[at]);
      }
    }
    return converter.all_finite();
  }

  bool load_b(std::span<const RegisterRow> registers, const Frame& frame) {
    Converter<V> converter;
    for (std::size_t r = 0; r < kBs; ++r) {
      const Block block = block_of(frame, registers[r]);
      for (std::size_t k = 0; k < kBlock; ++k) {
        alignas(16) std::array<Bits<V>, kTensorColumns> row;  // even columns, then odd ones
        for (std::size_t n = 0; n < kTensorColumns; ++n) row[n / 2 + n % 2 * kColumnsAtOnce] = block[n * kBlock + k];
        const std::size_t at = (r * kBlock + k) * kTensorColumns;
        for (std::size_t n = 0; n < kTensorColumns; n += Converter<V>::kAtOnce)
          converter.convert(&row[n], &b_[at + n], &eb_[at + n]);
      }
    }
    return converter.all_finite();
  }

  void load_c(std::span<const RegisterRow> registers, const Frame& frame) {
    for (std::size_t half = 0; half < kHalves; ++half)
      for (std::size_t side = 0; side < kSides; ++side) {
        float* to = &c_[(side * kM + half * kRows) * kColumnsAtOnce];
        if constexpr (kNarrowC) {
          const auto* words = frame.source<std::uint32_t>(registers[half]);
          for (std::size_t i = 0; i < kLanes; ++i)
            to[i] = half_to_float(static_cast<std::uint16_t>(words[i] >> (side * 16)));
        } else {
          std::memcpy(to, frame.source<std::byte>(registers[half * kSides + side]), sizeof(float) * kLanes);
        }
      }
  }

  bool multiply() {
    std::array<EightShorts, kM> largest;
    for (std::size_t row = 0; row < kM; ++row) {
      EightShorts top = load_vector<EightShorts>(&eb_[0]) + ea_[row * K];
#pragma GCC unroll 16
      for (std::size_t k = 1; k < K; ++k) {
        const EightShorts next = load_vector<EightShorts>(&eb_[k * kTensorColumns]) + ea_[row * K + k];
        top = next > top ? next : top;
      }
      largest[row] = top;
    }
    FourInts outside = {};
    for (std::size_t side = 0; side < kSides; ++side) {
      std::array<FourFloats, K> b;
      for (std::size_t k = 0; k < K; ++k)
        b[k] = load_vector<FourFloats>(&b_[k * kTensorColumns + side * kColumnsAtOnce]);
      for (std::size_t row = 0; row < kM; ++row) {
        const FourInts top = {largest[row][side * 4], largest[row][side * 4 + 1], largest[row][side * 4 + 2],
                              largest[row][side * 4 + 3]};
        const auto c = load_vector<FourFloats>(&c_[(side * kM + row) * kColumnsAtOnce]);
        const TensorSums sums = tensor_sums<K>(&a_[row * K], b.data(), c, c_exponents(c), top);
        outside |= sums.outside;
        round(sums, &result_[(side * kM + row) * kColumnsAtOnce]);
      }
    }
    return (outside[0] | outside[1] | outside[2] | outside[3]) == 0;
  }

  // f16 has its own smallest exponent. One that is not finite has an exponent above the range.
  static FourInts c_exponents(const FourFloats& c) {
    const FourInts exponents = float_exponents(c);
    if constexpr (!kNarrowC) return exponents;
    constexpr int kSmallest = 1 - kBias<Half>;
    const FourInts clamped = exponents < kSmallest ? FourInts{kSmallest, kSmallest, kSmallest, kSmallest} : exponents;
    return exponents == kNoExponent ? exponents : clamped;
  }

  static void round(const TensorSums& sums, D* to) {
    if constexpr (kNarrowD) {
      for (std::size_t n = 0; n < kColumnsAtOnce; ++n) to[n] = narrow<D, Rounding::rn>(exact_sum(sums, n));
    } else {
      const FourFloats rounded = truncated(sums);
      std::memcpy(to, &rounded, sizeof rounded);
    }
  }

  void store(std::span<const RegisterRow> registers, const Frame& frame) const {
    for (std::size_t r = 0; r < kSums; ++r) {
      std::uint32_t row[kLanes];
      if constexpr (kNarrowD) {
        for (std::size_t i = 0; i < kLanes; ++i)
          row[i] = result_[r * kLanes + i].bits | std::uint32_t{result_[(kHalves + r) * kLanes + i].bits} << 16;
      } else {
        std::memcpy(row, &result_[(r % kSides * kHalves + r / kSides) * kLanes], sizeof row);
      }
      auto* to = frame.destination<std::uint32_t>(registers[r]);
      if (frame.active == kAllLanes)
        std::memcpy(to, row, sizeof row);
      else
        blend(to, row, frame.active);
    }
  }

  alignas(64) std::array<float, kM * K> a_;
  alignas(64) std::array<float, K * kTensorColumns> b_;
  alignas(64) std::array<float, kSides * kM * kColumnsAtOnce> c_;
  alignas(64) std::array<std::int16_t, kM * K> ea_;
  alignas(64) std::array<std::int16_t, K * kTensorColumns> eb_;
  alignas(64) std::array<D, kSides * kM * kColumnsAtOnce> result_;
};

}  // namespace wm::exec
