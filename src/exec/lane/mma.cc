// mma: a product of small matrices whose elements are spread over the warp. Chooses the routine of each form.
#include <array>

#include "exec/lane/form.h"
#include "exec/lane/products.h"

namespace wm::exec {

namespace {

using ptx::Suffix;
using ptx::Type;

template <typename D, int PerD, bool RowA, bool RowB>
void quads(const Operands& operands, const Frame& frame) {
  Fragments<Half, Half, D, 2, PerD, true>{RowA ? quad_lane_row : quad_lane_column,
                                          RowB ? quad_lane_column : quad_lane_row,
                                          PerD == 1 ? quad_sums32 : quad_lane_row,
                                          {8, 8, 4, 4}}
      .multiply(operands, frame);
}
template <typename V, int K>
LaneOp halves_of(Type sums) {
  if (sums == Type::f32) return tensor_product<V, float, float, K>;
  if constexpr (std::is_same_v<V, Half>)
    if (sums == Type::f16) return tensor_product<V, Half, Half, K>;
  return nullptr;
}

LaneOp quads_of(Type sums, bool row_a, bool row_b) {
  return by_flag(row_a, [&](auto a) {
    return by_flag(row_b, [&](auto b) -> LaneOp {
      if (sums == Type::f32) return quads<float, 1, decltype(a)::value, b()>;
      return sums == Type::f16 ? quads<Half, 2, decltype(a)::value, b()> : nullptr;
    });
  });
}

template <int M, int K>
LaneOp bytes_of(Type a, Type b) {
  const auto is_byte = [](Type type) { return type == Type::s8 || type == Type::u8; };
  if (!is_byte(a) || !is_byte(b)) return nullptr;
  return by_signs<std::int8_t, std::uint8_t>(a == Type::s8, b == Type::s8, [](auto x, auto y) -> LaneOp {
    return integer_product<decltype(x), decltype(y), 4, M, K>;
  });
}
template <int M, int K>
LaneOp nibbles_of(Type a, Type b) {
  return by_signs<SignedNibble, UnsignedNibble>(a == Type::s4, b == Type::s4, [](auto x, auto y) -> LaneOp {
    return integer_product<decltype(x), decltype(y), 8, M, K>;
  });
}

// Bits: the ones of the conjunction, or of the difference, are counted.
template <int M, int K>
LaneOp bits_of_shape(bool exclusive) {
  return exclusive ? bit_product<M, K, true> : bit_product<M, K, false>;
}
LaneOp bit_shapes(Form& form) {
  const bool exclusive = form.take(Suffix::xor_);
  form.take(Suffix::and_), form.take(Suffix::popc);
  if (form.take(Suffix::m8n8k128)) return bits_of_shape<8, 128>(exclusive);
  if (form.take(Suffix::m16n8k128)) return bits_of_shape<16, 128>(exclusive);
  return form.take(Suffix::m16n8k256) ? bits_of_shape<16, 256>(exclusive) : nullptr;
}

LaneOp nibble_shapes(Form& form, Type a, Type b) {
  if (form.take(Suffix::m8n8k32)) return nibbles_of<8, 32>(a, b);
  if (form.take(Suffix::m16n8k32)) return nibbles_of<16, 32>(a, b);
  return form.take(Suffix::m16n8k64) ? nibbles_of<16, 64>(a, b) : nullptr;
}

LaneOp double_shapes(Form& form) {
  if (form.take(Suffix::m16n8k4)) return double_product<16, 4>;
  if (form.take(Suffix::m16n8k8)) return double_product<16, 8>;
  return form.take(Suffix::m16n8k16) ? double_product<16, 16> : nullptr;
}

LaneOp of_shape(Form& form, Type sums, Type a, Type b) {
  const bool single = a == b && sums == form.type(3);
  if (a == Type::b1) return bit_shapes(form);
  if (a == Type::s4 || a == Type::u4) return nibble_shapes(form, a, b);
  if (a == Type::f64) return double_shapes(form);
  if (form.take(Suffix::m16n8k16)) {
    if (a == Type::f16 && single) return halves_of<Half, 16>(sums);
    return a == Type::bf16 && single ? halves_of<Brain, 16>(sums) : bytes_of<16, 16>(a, b);
  }
  if (form.take(Suffix::m16n8k8) && single) {
    if (a == Type::f16) return halves_of<Half, 8>(sums);
    if (a == Type::bf16) return halves_of<Brain, 8>(sums);
    return a == Type::tf32 && sums == Type::f32 ? tensor_product<Tf32, float, float, 8> : nullptr;
  }
  if (form.take(Suffix::m16n8k4))
    return single && a == Type::tf32 && sums == Type::f32 ? tensor_product<Tf32, float, float, 4> : nullptr;
  if (form.take(Suffix::m16n8k32)) return bytes_of<16, 32>(a, b);
  if (form.take(Suffix::m8n8k16)) return bytes_of<8, 16>(a, b);
  return nullptr;
}

}  // namespace

LaneOp matrix_multiply(Form& form) {
  form.take(Suffix::sync), form.take(Suffix::aligned);
  for (const Suffix rounding : {Suffix::rn, Suffix::rz, Suffix::rm, Suffix::rp}) {
    if (!form.take(rounding)) continue;
    if (rounding != Suffix::rn) return nullptr;
  }
  const auto& suffixes = form.instruction().suffixes;
  const Type sums = form.type(0), a = form.type(1), b = form.type(2);
  const bool eight = form.take(Suffix::m8n8k4);
  // The layouts of A and B, in this order.
  std::array<bool, 2> row{};
  std::size_t seen = 0;
  for (const Suffix suffix : suffixes)
    if ((suffix == Suffix::row || suffix == Suffix::col) && seen < 2) row[seen++] = suffix == Suffix::row;
  if (seen != 2) return nullptr;
  while (form.take(Suffix::row) || form.take(Suffix::col)) continue;
  if (eight && a == Type::f16 && b == Type::f16 && sums == form.type(3)) return quads_of(sums, row[0], row[1]);
  if (!row[0] || row[1]) return nullptr;
  if (form.take(Suffix::sp) || form.take(Suffix::sp_ordered_metadata)) return sparse_multiply(form);
  if (eight) return sums == Type::f64 && a == Type::f64 && b == Type::f64 ? double_product<8, 4> : nullptr;
  const bool integers = sums == Type::s32 && form.type(3) == Type::s32;
  if (integers) form.take(Suffix::satfinite);
  return of_shape(form, sums, a, b);
}

}  // namespace wm::exec
