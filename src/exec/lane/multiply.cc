// mul, mad (.lo, .hi, .wide), mul24 and mad24 on integers.
#include "exec/lane/form.h"
#include "exec/lane/integer.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

template <typename T>
WM_LANE Wide<T> product(T a, T b) {
  return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b);
}

template <typename T>
WM_LANE T mul_lo(T a, T b) {
  return wrapping_mul(a, b);
}
template <typename T>
WM_LANE T mul_hi(T a, T b) {
  return static_cast<T>(product(a, b) >> (sizeof(T) * 8));
}
template <typename T>
WM_LANE Wide<T> mul_wide(T a, T b) {
  return product(a, b);
}
template <typename T>
WM_LANE T mad_lo(T a, T b, T c) {
  return wrapping_add(wrapping_mul(a, b), c);
}
template <typename T>
WM_LANE T mad_hi(T a, T b, T c) {
  return wrapping_add(mul_hi(a, b), c);
}
WM_LANE std::int32_t mad_hi_sat(std::int32_t a, std::int32_t b, std::int32_t c) {
  return clamp_to<std::int32_t>(std::int64_t{mul_hi(a, b)} + c);
}
template <typename T>
WM_LANE Wide<T> mad_wide(T a, T b, Wide<T> c) {
  return wrapping_add(product(a, b), c);
}

// The low 24 bits of a register as a number.
WM_LANE std::int64_t low24(std::int32_t a) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8;
}
WM_LANE std::int64_t low24(std::uint32_t a) { return a & 0xffffffU; }

template <typename T>
WM_LANE T mul24_lo(T a, T b) {
  return static_cast<T>(low24(a) * low24(b));
}
template <typename T>
WM_LANE T mul24_hi(T a, T b) {  // bits 16 to 47 of the 48-bit product
  return static_cast<T>((low24(a) * low24(b)) >> 16);
}
template <typename T>
WM_LANE T mad24_lo(T a, T b, T c) {
  return wrapping_add(mul24_lo(a, b), c);
}
template <typename T>
WM_LANE T mad24_hi(T a, T b, T c) {
  return wrapping_add(mul24_hi(a, b), c);
}
WM_LANE std::int32_t mad24_hi_sat(std::int32_t a, std::int32_t b, std::int32_t c) {
  return clamp_to<std::int32_t>(std::int64_t{mul24_hi(a, b)} + c);
}

template <typename T>
LaneOp in_24_bits(Form& form) {
  const bool multiply = form.opcode() == Opcode::mul24;
  if (form.take(Suffix::lo)) return multiply ? lanes<mul24_lo<T>> : lanes<mad24_lo<T>>;
  if (!form.take(Suffix::hi)) return nullptr;
  if (std::is_signed_v<T> && !multiply && form.take(Suffix::sat)) return lanes<mad24_hi_sat>;
  return multiply ? lanes<mul24_hi<T>> : lanes<mad24_hi<T>>;
}

template <typename T>
LaneOp of_type(Form& form) {
  const bool multiply = form.opcode() == Opcode::mul;
  if (form.take(Suffix::lo)) return multiply ? lanes<mul_lo<Bits<T>>> : lanes<mad_lo<Bits<T>>>;
  if (form.take(Suffix::wide)) {
    if constexpr (sizeof(T) < 8) return multiply ? lanes<mul_wide<T>> : lanes<mad_wide<T>>;
    return nullptr;
  }
  if (!form.take(Suffix::hi)) return nullptr;
  if (std::is_same_v<T, std::int32_t> && !multiply && form.take(Suffix::sat)) return lanes<mad_hi_sat>;
  return multiply ? lanes<mul_hi<T>> : lanes<mad_hi<T>>;
}

}  // namespace

LaneOp integer_multiply(Form& form) {
  if (form.opcode() == Opcode::mul24 || form.opcode() == Opcode::mad24) {
    if (form.type() == Type::s32) return in_24_bits<std::int32_t>(form);
    return form.type() == Type::u32 ? in_24_bits<std::uint32_t>(form) : nullptr;
  }
  if (ptx::is_untyped(form.type())) return nullptr;
  return by_integer(form.type(), [&]<typename T>(std::type_identity<T>) { return of_type<T>(form); });
}

}  // namespace wm::exec
