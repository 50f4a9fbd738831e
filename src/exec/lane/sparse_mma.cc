// mma.sp: a product whose matrix A is stored without the zeros of a regular pattern.
//
// A stores half of the elements of every group of neighbouring columns in a row, in the layout of a dense matrix of
// half as many columns. A group has two columns of tf32, four of 16 and 8 bits, eight of 4 bits; its four bits of
// metadata are two numbers of the columns that are stored, or of pairs of columns for elements of 4 bits. Elements of B
// that meet no stored element of A take no part in a sum, not even those that are not finite. The places of the
// metadata and the bits of the sums are those of an H200 (validation/semantics).
#include <array>

#include "exec/lane/form.h"
#include "exec/lane/fragments.h"
#include "exec/lane/products.h"

namespace wm::exec {

namespace {

using ptx::Suffix;
using ptx::Type;

// The numbers of a group are 4 bits of a register of metadata.
struct MetadataPlace {
  int lane = 0;
  int nibble = 0;
};

// `Kept`: stored elements of a group; `K`: columns of A, stored or not.
template <bool Float, int Kept, int K>
struct Pattern {
  static constexpr int kStored = K / 2, kGroups = kStored / Kept;
  static constexpr int kHolders = kGroups * 16 / 64;  // lanes of four neighbours that hold metadata
  static constexpr int kSelectors = 4 / kHolders;

  static MetadataPlace place(int row, int group, int selector) {
    const int first = row % 8 * 4 + selector * kHolders;
    if constexpr (Float) return {first + group / 4, group % 4 + row / 8 * 4};
    return {first + row / 8 + group / 8 * 2, group % 8};
  }

  // The column of A, and row of B, of a stored element.
  static int column(int stored, unsigned numbers) {
    const int group = stored / Kept, within = stored % Kept;
    const auto number = [&](int i) { return static_cast<int>(numbers >> (2 * i) & 3U); };
    if constexpr (Kept == 1) return group * 2 + number(0) / 2;
    if constexpr (Kept == 2) return group * 4 + number(within);
    return group * 8 + number(within / 2) * 2 + within % 2;
  }
};

// V, W: elements of A and B, `Per` of them in a register; D: elements of C and D.
template <typename V, typename W, typename D, int Per, int Kept, int K>
class SparseProduct {
 public:
  static void run(const Operands& operands, const Frame& frame) {
    SparseProduct product;
    const auto registers = operands.more;
    gather<V, Per>(registers.subspan(kSumRegisters, kAs), frame, rows_over_lanes<Per, 2>, P::kStored, kM, product.a_);
    gather<W, Per>(registers.subspan(kSumRegisters + kAs, kBs), frame, rows_over_lanes<Per, 1>, K, kN, product.b_);
    gather<D, kPerD>(registers.subspan(kSumRegisters + kAs + kBs, kSumRegisters), frame, kSums, kN, kM, product.c_);
    product.locate(frame.source<std::uint32_t>(registers.back()), static_cast<int>(operands.immediate >> 1U));
    product.multiply((operands.immediate & 1U) != 0);
    product.store(registers.first(kSumRegisters), frame);
  }

 private:
  using P = Pattern<!kInteger<V>, Kept, K>;
  using T = decltype(number(V{}));
  static constexpr int kM = 16, kN = 8, kPerD = 4 / static_cast<int>(sizeof(D));
  static constexpr std::size_t kSumRegisters = kM * kN / kLanes / kPerD;
  static constexpr std::size_t kAs = kM * P::kStored / kLanes / Per, kBs = K * kN / kLanes / Per;

  void locate(const std::uint32_t* metadata, int selector) {
    for (int row = 0; row < kM; ++row)
      for (int i = 0; i < P::kStored; ++i) {
        const MetadataPlace place = P::place(row, i / Kept, selector);
        const unsigned numbers = metadata[place.lane] >> (4 * place.nibble) & 0xfU;
        columns_[static_cast<std::size_t>(row * P::kStored + i)] = P::column(i, numbers);
      }
  }

  void multiply(bool finite) {
    for (int row = 0; row < kM; ++row)
      for (int n = 0; n < kN; ++n) {
        std::array<T, P::kStored> met;  // elements of B that stored elements of the row meet
        for (int i = 0; i < P::kStored; ++i)
          met[static_cast<std::size_t>(i)] =
              at(b_, {n, columns_[static_cast<std::size_t>(row * P::kStored + i)], 0}, K, kN);
        const Element e{row, n, 0};
        at(d_, e, kN, kM) = sum_of<V, D, D, false>(&at(a_, {row, 0, 0}, P::kStored, kM), met.data(), P::kStored,
                                                   at(c_, e, kN, kM), finite);
      }
  }

  void store(std::span<const RegisterRow> registers, const Frame& frame) {
    for (std::size_t r = 0; r < registers.size(); ++r) {
      std::uint32_t row[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        row[lane] = 0;
        for (int part = 0; part < kPerD; ++part) {
          const D sum = at(d_, kSums(lane, static_cast<int>(r) * kPerD + part), kN, kM);
          row[lane] |= static_cast<std::uint32_t>(bits_of(sum)) << (part * 16 % 32);
        }
      }
      blend(frame.destination<std::uint32_t>(registers[r]), row, frame.active);
    }
  }

  Matrix<T> a_, b_, c_;
  Matrix<D> d_;
  std::array<int, 16 * P::kStored> columns_;
};

// The routine, if the instruction's selector names lanes that the pattern has.
template <typename V, typename W, typename D, int Per, int Kept, int K>
LaneOp sparse(const Form& form) {
  const auto& operands = form.instruction().operands;
  if (operands.size() != 6 || operands[5].bits >= Pattern<!kInteger<V>, Kept, K>::kSelectors) return nullptr;
  return SparseProduct<V, W, D, Per, Kept, K>::run;
}

template <int K>
LaneOp halves(const Form& form, Type a, Type sums) {
  if (a == Type::bf16) return sums == Type::f32 ? sparse<Brain, Brain, float, 2, 2, K>(form) : nullptr;
  if (sums == Type::f32) return sparse<Half, Half, float, 2, 2, K>(form);
  return sums == Type::f16 ? sparse<Half, Half, Half, 2, 2, K>(form) : nullptr;
}

template <int K>
LaneOp bytes(const Form& form, Type a, Type b) {
  return by_signs<std::int8_t, std::uint8_t>(a == Type::s8, b == Type::s8, [&](auto x, auto y) {
    return sparse<decltype(x), decltype(y), std::int32_t, 4, 2, K>(form);
  });
}

template <int K>
LaneOp nibbles(const Form& form, Type a, Type b) {
  return by_signs<SignedNibble, UnsignedNibble>(a == Type::s4, b == Type::s4, [&](auto x, auto y) {
    return sparse<decltype(x), decltype(y), std::int32_t, 8, 4, K>(form);
  });
}

}  // namespace

LaneOp sparse_multiply(Form& form) {
  const Type sums = form.type(0), a = form.type(1), b = form.type(2);
  const bool half = a == Type::f16 || a == Type::bf16, byte = a == Type::s8 || a == Type::u8;
  const bool nibble = a == Type::s4 || a == Type::u4;
  if (byte || nibble) form.take(Suffix::satfinite);
  if (form.take(Suffix::m16n8k8)) return a == Type::tf32 ? sparse<Tf32, Tf32, float, 1, 1, 8>(form) : nullptr;
  if (form.take(Suffix::m16n8k16)) {
    if (a == Type::tf32) return sparse<Tf32, Tf32, float, 1, 1, 16>(form);
    return half ? halves<16>(form, a, sums) : nullptr;
  }
  if (form.take(Suffix::m16n8k32)) return half ? halves<32>(form, a, sums) : byte ? bytes<32>(form, a, b) : nullptr;
  if (form.take(Suffix::m16n8k64)) return byte ? bytes<64>(form, a, b) : nibble ? nibbles<64>(form, a, b) : nullptr;
  return form.take(Suffix::m16n8k128) && nibble ? nibbles<128>(form, a, b) : nullptr;
}

}  // namespace wm::exec
