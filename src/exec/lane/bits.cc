// popc, clz, bfind, fns, brev, bfe, bfi, szext, bmsk.
#include <bit>
#include <limits>

#include "exec/lane/form.h"
#include "exec/lane/integer.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

template <typename T>
WM_LANE std::uint32_t count_ones(T a) {
  return static_cast<std::uint32_t>(std::popcount(a));
}
template <typename T>
WM_LANE std::uint32_t leading_zeros(T a) {
  return static_cast<std::uint32_t>(std::countl_zero(a));
}

// The position of the highest bit that is not a copy of the sign; all ones if there is none.
template <typename T, bool ShiftAmount>
WM_LANE std::uint32_t find_highest(T a) {
  const Bits<T> bits = a < 0 ? static_cast<Bits<T>>(~a) : static_cast<Bits<T>>(a);
  const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
  const std::uint32_t width = sizeof(T) * 8;
  const std::uint32_t found = ShiftAmount ? zeros : width - 1 - zeros;
  return zeros == width ? 0xffffffffU : found;
}

// The offset-th set bit from base, upwards for a positive offset, downwards for a negative one; the base itself for 0.
// The lowest offset has no opposite, and the hardware answers 0.
WM_LANE std::uint32_t find_nth(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  if (offset == std::numeric_limits<std::int32_t>::min()) return 0;
  if (base > 31U) return 0xffffffffU;
  if (offset == 0) return ((mask >> base) & 1U) != 0 ? base : 0xffffffffU;
  const int step = offset > 0 ? 1 : -1;
  std::uint32_t left = offset > 0 ? static_cast<std::uint32_t>(offset) : 0U - static_cast<std::uint32_t>(offset);
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
    if (((mask >> at) & 1U) != 0 && --left == 0) return static_cast<std::uint32_t>(at);
  return 0xffffffffU;
}

template <typename T>
WM_LANE T reverse(T a) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) result |= ((a >> i) & T{1}) << (sizeof(T) * 8 - 1 - i);
  return result;
}

// Positions and lengths above 255 are undefined in PTX. The hardware reads their low byte in the 32-bit forms and the
// full word in the 64-bit ones.
template <typename T>
WM_LANE std::uint64_t field_argument(std::uint32_t x) {
  return sizeof(T) == 4 ? x & 0xffU : x;
}

// `length` bits from `position`, filled up with the field's sign; positions past the top read the value's own sign.
template <typename T>
WM_LANE T extract(T a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t width = sizeof(T) * 8;
  const std::uint64_t position = field_argument<T>(b), length = field_argument<T>(c);
  const std::uint64_t from = position < width ? position : width - 1;
  const T shifted = static_cast<T>(position < width ? a >> from : (a < 0 ? -1 : 0));
  if (length == 0) return 0;
  const std::uint64_t last = position + length - 1 < width ? position + length - 1 : width - 1;
  const bool negative = std::is_signed_v<T> && ((static_cast<Bits<T>>(a) >> last) & 1U) != 0;
  if (length >= width) return shifted;
  const Bits<T> field = (Bits<T>{1} << length) - 1;
  return static_cast<T>((static_cast<Bits<T>>(shifted) & field) | (negative ? ~field : 0));
}

template <typename T>
WM_LANE T insert(T a, T b, std::uint32_t c, std::uint32_t d) {
  const std::uint64_t width = sizeof(T) * 8;
  const std::uint64_t position = field_argument<T>(c), length = field_argument<T>(d);
  if (position >= width) return b;
  const T field = length >= width ? static_cast<T>(~T{0}) : (T{1} << length) - 1;
  return (b & ~(field << position)) | ((a & field) << position);
}

// The low b bits, with their sign or with zeros above.
template <typename T, bool Wrap>
WM_LANE T extend(T a, std::uint32_t b) {
  const std::uint32_t length = Wrap ? b & 31U : b;
  if (length >= 32U) return a;
  if (length == 0) return 0;
  const std::uint32_t up = 32U - length;
  return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(a) << up) >> up);
}

// b ones from bit a on.
template <bool Wrap>
WM_LANE std::uint32_t mask_of(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t position = Wrap ? a & 31U : a, length = Wrap ? b & 31U : b;
  const std::uint32_t ones = length >= 32U ? ~0U : (1U << length) - 1;
  return position >= 32U ? 0 : ones << position;
}

template <typename T>
LaneOp untyped(Opcode opcode) {
  switch (opcode) {
    case Opcode::popc:
      return lanes<count_ones<T>>;
    case Opcode::clz:
      return lanes<leading_zeros<T>>;
    case Opcode::brev:
      return lanes<reverse<T>>;
    case Opcode::bfi:
      return lanes<insert<T>>;
    default:
      return nullptr;
  }
}

template <typename T>
LaneOp typed(Form& form) {
  if (form.opcode() == Opcode::bfe) return lanes<extract<T>>;
  return form.take(Suffix::shiftamt) ? lanes<find_highest<T, true>> : lanes<find_highest<T, false>>;
}

LaneOp clamped_or_wrapped(Form& form) {
  const bool wrap = form.take(Suffix::wrap);
  if (!wrap && !form.take(Suffix::clamp)) return nullptr;
  return by_flag(wrap, [&](auto w) -> LaneOp {
    if (form.opcode() == Opcode::bmsk) return form.type() == Type::b32 ? lanes<mask_of<w()>> : nullptr;
    if (form.type() == Type::s32) return lanes<extend<std::int32_t, w()>>;
    return form.type() == Type::u32 ? lanes<extend<std::uint32_t, w()>> : nullptr;
  });
}

}  // namespace

LaneOp bit_counting(Form& form) {
  const Type type = form.type();
  switch (form.opcode()) {
    case Opcode::szext:
    case Opcode::bmsk:
      return clamped_or_wrapped(form);
    case Opcode::fns:
      return type == Type::b32 ? lanes<find_nth> : nullptr;
    case Opcode::bfe:
    case Opcode::bfind:
      return by_integer(type, [&]<typename T>(std::type_identity<T>) -> LaneOp {
        if constexpr (sizeof(T) >= 4) return ptx::is_untyped(type) ? nullptr : typed<T>(form);
        return nullptr;
      });
    default:
      if (type == Type::b32) return untyped<std::uint32_t>(form.opcode());
      return type == Type::b64 ? untyped<std::uint64_t>(form.opcode()) : nullptr;
  }
}

}  // namespace wm::exec
