// wmma.mma: the product of whole tiles. The places of the elements in a fragment are those of exec/tile.h.
#include <algorithm>
#include <array>

#include "exec/lane/form.h"
#include "exec/lane/products.h"

namespace wm::exec {

namespace {

using ptx::Suffix;
using ptx::Type;

// wmma of 16 x 16 results is two products of mma, for the left and the right eight columns, as the hardware executes
// it. The registers of a fragment are those of the products one after the other; fragments of f16 have twice as many
// registers as values, of which the upper half is not used.
template <LaneOp Half8, std::size_t Sums, std::size_t C, std::size_t A, std::size_t B, std::size_t Registers>
void tile(const Operands& operands, const Frame& frame) {
  const auto d = operands.more.first(2 * Sums), a = operands.more.subspan(2 * Sums, Registers);
  const auto b = operands.more.subspan(2 * Sums + Registers, Registers), c = operands.more.last(2 * C);
  for (std::size_t side = 0; side < 2; ++side) {
    std::array<RegisterRow, Sums + A + B + C> rows;
    auto to = std::copy_n(d.begin() + static_cast<std::ptrdiff_t>(side * Sums), Sums, rows.begin());
    to = std::copy_n(a.begin(), A, to);
    to = std::copy_n(b.begin() + static_cast<std::ptrdiff_t>(side * B), B, to);
    std::copy_n(c.begin() + static_cast<std::ptrdiff_t>(side * C), C, to);
    Operands product = operands;
    product.more = rows;
    Half8(product, frame);
  }
}

// The tiles of 8 x 32 and 32 x 8 results, element by element: element number e of a matrix, counted along its rows, is
// in lane e % 32.
template <typename V, typename W, typename C, typename D, int M, int N>
class LongTile {
 public:
  static void run(const Operands& operands, const Frame& frame) {
    const auto registers = operands.more;
    std::array<T, M * kK> a;
    std::array<T, kK * N> b, columns;
    std::array<T, M * N> c;
    gather<V>(registers.subspan(kSums, kAs), frame, a);
    gather<W>(registers.subspan(kSums + kAs, kBs), frame, b);
    gather<C>(registers.subspan(kSums + kAs + kBs), frame, c);
    for (std::size_t k = 0; k < kK; ++k)
      for (std::size_t n = 0; n < N; ++n) columns[n * kK + k] = b[k * N + n];
    for (std::size_t r = 0; r < kSums; ++r) {
      std::uint32_t row[kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        row[lane] = 0;
        for (std::size_t part = 0; part < kPer<D>; ++part) {
          const std::size_t e = (r * kPer<D> + part) * kLanes + lane;
          const D sum = sum_of<V, C, D, false>(&a[e / N * kK], &columns[e % N * kK], kK, c[e], operands.immediate != 0);
          row[lane] |= static_cast<std::uint32_t>(bits_of(sum)) << (part * sizeof(D) * 8);
        }
      }
      blend(frame.destination<std::uint32_t>(registers[r]), row, frame.active);
    }
  }

 private:
  using T = decltype(number(V{}));
  static constexpr int kK = 16;
  template <typename X>
  static constexpr std::size_t kPer = 4 / sizeof(X);
  // Fragments of f16 have eight registers whatever their shape.
  static constexpr bool kEight = std::is_same_v<V, Half>;
  static constexpr std::size_t kSums = M * N / kLanes / kPer<D>, kAs = kEight ? 8 : M * kK / kLanes / kPer<V>,
                               kBs = kEight ? 8 : kK * N / kLanes / kPer<W>;

  template <typename X, std::size_t Count>
  static void gather(std::span<const RegisterRow> registers, const Frame& frame, std::array<T, Count>& to) {
    for (std::size_t e = 0; e < Count; ++e)
      to[e] = number(value_of<X, static_cast<int>(kPer<X>)>(registers, frame, static_cast<int>(e % kLanes),
                                                            static_cast<int>(e / kLanes)));
  }
};

template <typename C, typename D>
LaneOp half_tile(Form& form) {
  if (form.take(Suffix::m8n32k16)) return LongTile<Half, Half, C, D, 8, 32>::run;
  if (form.take(Suffix::m32n8k16)) return LongTile<Half, Half, C, D, 32, 8>::run;
  constexpr std::size_t kSums = sizeof(D), kStarts = sizeof(C);
  return form.take(Suffix::m16n16k16) ? tile<tensor_product<Half, C, D, 16>, kSums, kStarts, 4, 2, 8> : nullptr;
}

LaneOp brain_tile(Form& form) {
  if (form.take(Suffix::m8n32k16)) return LongTile<Brain, Brain, float, float, 8, 32>::run;
  if (form.take(Suffix::m32n8k16)) return LongTile<Brain, Brain, float, float, 32, 8>::run;
  return form.take(Suffix::m16n16k16) ? tile<tensor_product<Brain, float, float, 16>, 4, 4, 4, 2, 4> : nullptr;
}

LaneOp byte_tile(Form& form, Type a, Type b) {
  enum class Tile { wide, tall, square } which = Tile::square;
  if (form.take(Suffix::m8n32k16))
    which = Tile::wide;
  else if (form.take(Suffix::m32n8k16))
    which = Tile::tall;
  else if (!form.take(Suffix::m16n16k16))
    return nullptr;
  return by_signs<std::int8_t, std::uint8_t>(a == Type::s8, b == Type::s8, [&](auto x, auto y) -> LaneOp {
    using X = decltype(x);
    using Y = decltype(y);
    if (which == Tile::wide) return LongTile<X, Y, std::int32_t, std::int32_t, 8, 32>::run;
    if (which == Tile::tall) return LongTile<X, Y, std::int32_t, std::int32_t, 32, 8>::run;
    return tile<integer_product<X, Y, 4, 16, 16>, 4, 4, 2, 1, 2>;
  });
}

// Tiles of 8 x 8 results are those of mma.
LaneOp small_tile(Form& form, Type a, Type b) {
  if (form.take(Suffix::m8n8k4)) return double_product<8, 4>;
  if (form.take(Suffix::m8n8k128)) {
    const bool exclusive = form.take(Suffix::xor_);
    form.take(Suffix::and_), form.take(Suffix::popc);
    return exclusive ? bit_product<8, 128, true> : bit_product<8, 128, false>;
  }
  if (!form.take(Suffix::m8n8k32)) return nullptr;
  return by_signs<SignedNibble, UnsignedNibble>(a == Type::s4, b == Type::s4, [](auto x, auto y) -> LaneOp {
    return integer_product<decltype(x), decltype(y), 8, 8, 32>;
  });
}

}  // namespace

LaneOp tile_multiply(Form& form) {
  form.take(Suffix::sync), form.take(Suffix::aligned), form.take(Suffix::satfinite), form.take(Suffix::rn);
  while (form.take(Suffix::row) || form.take(Suffix::col)) continue;
  const auto& types = form.instruction().types;
  if (types.size() == 2) {  // types of D and C; A and B are f16
    if (types[0] == Type::f32)
      return types[1] == Type::f32 ? half_tile<float, float>(form) : half_tile<Half, float>(form);
    return types[1] == Type::f32 ? half_tile<float, Half>(form) : half_tile<Half, Half>(form);
  }
  const Type a = form.type(1), b = form.type(2);
  switch (a) {
    case Type::bf16:
      return brain_tile(form);
    case Type::tf32:
      return form.take(Suffix::m16n16k8) ? tile<tensor_product<Tf32, float, float, 8>, 4, 4, 4, 2, 4> : nullptr;
    case Type::s8:
    case Type::u8:
      return byte_tile(form, a, b);
    default:
      return small_tile(form, a, b);
  }
}

}  // namespace wm::exec
