// Lane functions of 16-bit floats, one or two in a register.
#pragma once

#include "exec/lane/form.h"
#include "exec/lane/formats.h"

namespace wm::exec {

// Applies a function of 16-bit values to both halves of its 32-bit arguments.
template <auto Function, typename T, typename... Arguments>
WM_LANE std::uint32_t in_both_halves(Arguments... arguments) {
  const T low = Function(T{static_cast<std::uint16_t>(arguments)}...);
  const T high = Function(T{static_cast<std::uint16_t>(arguments >> 16)}...);
  return static_cast<std::uint32_t>(low.bits) | static_cast<std::uint32_t>(high.bits) << 16;
}

template <auto Function, typename T>
WM_LANE std::uint32_t unary_x2(std::uint32_t a) {
  return in_both_halves<Function, T>(a);
}
template <auto Function, typename T>
WM_LANE std::uint32_t binary_x2(std::uint32_t a, std::uint32_t b) {
  return in_both_halves<Function, T>(a, b);
}
template <auto Function, typename T>
WM_LANE std::uint32_t ternary_x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return in_both_halves<Function, T>(a, b, c);
}

inline bool is_pair(ptx::Type type) { return type == ptx::Type::f16x2 || type == ptx::Type::bf16x2; }
inline bool is_brain(ptx::Type type) { return type == ptx::Type::bf16 || type == ptx::Type::bf16x2; }

// Calls `choose` with the format of a 16-bit type, single or packed.
template <typename Choose>
LaneOp by_half(ptx::Type type, Choose&& choose) {
  return is_brain(type) ? choose(Brain{}) : choose(Half{});
}

}  // namespace wm::exec
