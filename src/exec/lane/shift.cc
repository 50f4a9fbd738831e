// shl, shr, shf, prmt. Shifts by more than the width clamp to the width.
#include "exec/lane/form.h"
#include "exec/lane/integer.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

template <typename T>
WM_LANE T shift_left(T a, std::uint32_t count) {
  const std::uint32_t width = sizeof(T) * 8;
  const T shifted = static_cast<T>(static_cast<Word<T>>(a) << (count & (width - 1)));
  return count < width ? shifted : T{0};
}
template <typename T>
WM_LANE T shift_right(T a, std::uint32_t count) {
  const std::uint32_t width = sizeof(T) * 8;
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (count < width ? count : width - 1));
  } else {
    const T shifted = static_cast<T>(a >> (count & (width - 1)));
    return count < width ? shifted : T{0};
  }
}

// The 64 bits b:a shifted; left keeps the high word, right the low one.
template <bool Left, bool Wrap>
WM_LANE std::uint32_t funnel(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t count = Wrap ? c & 31U : (c < 32U ? c : 32U);
  const std::uint64_t both = (static_cast<std::uint64_t>(b) << 32) | a;
  return static_cast<std::uint32_t>(Left ? (both << count) >> 32 : both >> count);
}

// One byte of b:a, or eight copies of its sign when bit 3 of the selector is set.
WM_LANE std::uint32_t permuted_byte(std::uint64_t both, std::uint32_t selector) {
  const auto byte = static_cast<std::uint32_t>(both >> ((selector & 7U) * 8)) & 0xffU;
  const std::uint32_t sign = (byte & 0x80U) != 0 ? 0xffU : 0U;
  return (selector & 8U) != 0 ? sign : byte;
}
WM_LANE std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t both = (static_cast<std::uint64_t>(b) << 32) | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) result |= permuted_byte(both, (c >> (4 * i)) & 15U) << (8 * i);
  return result;
}

// The selectors of the named modes, four nibbles for each value of c's low two bits, as one table of 64 bits.
constexpr std::uint64_t selectors(std::uint64_t c3, std::uint64_t c2, std::uint64_t c1, std::uint64_t c0) {
  return (c3 << 48) | (c2 << 32) | (c1 << 16) | c0;
}
template <Suffix Mode>
constexpr std::uint64_t mode_selectors() {
  switch (Mode) {
    case Suffix::f4e:
      return selectors(0x6543, 0x5432, 0x4321, 0x3210);
    case Suffix::b4e:
      return selectors(0x0123, 0x7012, 0x6701, 0x5670);
    case Suffix::rc8:
      return selectors(0x3333, 0x2222, 0x1111, 0x0000);
    case Suffix::ecl:
      return selectors(0x3333, 0x3222, 0x3211, 0x3210);
    case Suffix::ecr:
      return selectors(0x3210, 0x2210, 0x1110, 0x0000);
    case Suffix::rc16:
      return selectors(0x3232, 0x1010, 0x3232, 0x1010);
    default:
      return 0;
  }
}
template <Suffix Mode>
WM_LANE std::uint32_t permute_mode(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return permute(a, b, static_cast<std::uint32_t>(mode_selectors<Mode>() >> ((c & 3U) * 16)) & 0xffffU);
}

LaneOp permutation(Form& form) {
  if (form.type() != Type::b32) return nullptr;
  if (form.take(Suffix::f4e)) return lanes<permute_mode<Suffix::f4e>>;
  if (form.take(Suffix::b4e)) return lanes<permute_mode<Suffix::b4e>>;
  if (form.take(Suffix::rc8)) return lanes<permute_mode<Suffix::rc8>>;
  if (form.take(Suffix::ecl)) return lanes<permute_mode<Suffix::ecl>>;
  if (form.take(Suffix::ecr)) return lanes<permute_mode<Suffix::ecr>>;
  if (form.take(Suffix::rc16)) return lanes<permute_mode<Suffix::rc16>>;
  return lanes<permute>;
}

LaneOp funnel_shift(Form& form) {
  if (form.type() != Type::b32) return nullptr;
  const bool left = form.take(Suffix::l);
  if (!left && !form.take(Suffix::r)) return nullptr;
  const bool wrap = form.take(Suffix::wrap);
  if (!wrap && !form.take(Suffix::clamp)) return nullptr;
  return by_flag(left, [&](auto to_left) {
    return by_flag(wrap, [&](auto wraps) -> LaneOp { return lanes<funnel<to_left(), wraps()>>; });
  });
}

}  // namespace

LaneOp shift(Form& form) {
  if (form.opcode() == Opcode::prmt) return permutation(form);
  if (form.opcode() == Opcode::shf) return funnel_shift(form);
  if (form.opcode() == Opcode::shl && !ptx::is_untyped(form.type())) return nullptr;
  return by_integer(form.type(), [&]<typename T>(std::type_identity<T>) -> LaneOp {
    return form.opcode() == Opcode::shl ? lanes<shift_left<Bits<T>>> : lanes<shift_right<T>>;
  });
}

}  // namespace wm::exec
