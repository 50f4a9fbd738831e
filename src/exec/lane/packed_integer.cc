// add, min, max on two 16-bit integers in one register.
#include "exec/lane/form.h"
#include "exec/lane/integer.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

template <typename T, Opcode Op, bool Relu>
WM_LANE T half(T a, T b) {
  if constexpr (Op == Opcode::add) return wrapping_add(a, b);
  const T chosen = Op == Opcode::min ? (a < b ? a : b) : (a > b ? a : b);
  return Relu && chosen < T{0} ? T{0} : chosen;
}
template <typename T, Opcode Op, bool Relu = false>
WM_LANE std::uint32_t both(std::uint32_t a, std::uint32_t b) {
  const T low = half<T, Op, Relu>(static_cast<T>(a), static_cast<T>(b));
  const T high = half<T, Op, Relu>(static_cast<T>(a >> 16), static_cast<T>(b >> 16));
  return static_cast<std::uint32_t>(static_cast<std::uint16_t>(low)) |
         static_cast<std::uint32_t>(static_cast<std::uint16_t>(high)) << 16;
}

template <typename T>
LaneOp of(Form& form) {
  const bool relu = std::is_signed_v<T> && form.take(Suffix::relu);
  switch (form.opcode()) {
    case Opcode::add:
      return lanes<both<T, Opcode::add>>;
    case Opcode::min:
      return relu ? lanes<both<T, Opcode::min, true>> : lanes<both<T, Opcode::min>>;
    case Opcode::max:
      return relu ? lanes<both<T, Opcode::max, true>> : lanes<both<T, Opcode::max>>;
    default:
      return nullptr;
  }
}

}  // namespace

LaneOp packed_integer(Form& form) {
  return form.type() == Type::s16x2 ? of<std::int16_t>(form) : of<std::uint16_t>(form);
}

}  // namespace wm::exec
