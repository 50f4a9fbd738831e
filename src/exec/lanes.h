// The memory layout of a warp's registers, and the decoded form of an instruction that works only on registers.
//
// A register of N bits is a row of 32 N-bit values, one a lane, so that an instruction is a loop of 32 that the
// compiler turns into vector code. A predicate is one 32-bit mask, bit i for lane i. 16-bit registers are rows of
// 16-bit values. Immediates become rows of a constant pool at decode, so every source operand is a row.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace wm::exec {

inline constexpr int kLanes = 32;
using Mask = std::uint32_t;
inline constexpr Mask kAllLanes = 0xffffffffU;

// The number of lanes in a mask. Plain x86-64 has no instruction for it and calls a function; most masks are full.
[[nodiscard]] constexpr std::uint32_t count_lanes(Mask lanes) {
  return lanes == kAllLanes ? std::uint32_t{kLanes} : static_cast<std::uint32_t>(std::popcount(lanes));
}

// The place of a register's row: a byte offset from the warp's registers, or, with the top bit set, from the constant
// pool.
struct RegisterRow {
  static constexpr std::uint32_t kConstant = 0x80000000U;
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t value = kNone;

  [[nodiscard]] constexpr bool none() const { return value == kNone; }
  [[nodiscard]] constexpr bool constant() const { return (value & kConstant) != 0; }
  [[nodiscard]] constexpr std::uint32_t offset() const { return value & ~kConstant; }
};

// The part of a warp that a register-only instruction works on. `active` are the lanes that execute it (guard applied,
// never 0).
struct Frame {
  std::byte* registers = nullptr;
  const std::byte* constants = nullptr;
  Mask active = kAllLanes;

  template <typename T>
  [[nodiscard]] const T* source(RegisterRow s) const {
    const std::byte* base = s.constant() ? constants : registers;
    return reinterpret_cast<const T*>(base + s.offset());
  }
  template <typename T>
  [[nodiscard]] T* destination(RegisterRow s) const {
    return reinterpret_cast<T*>(registers + s.offset());
  }
  [[nodiscard]] Mask predicate(RegisterRow s) const { return *source<Mask>(s); }
};

// The operands of one decoded register-only instruction. Lanes outside Frame::active keep their destination.
//
// Sources lie in the order they are written in. A destination written `_` has no row. The condition code of extended
// precision is a predicate row that the engine owns: destination[1] of add.cc, sub.cc, mad.cc and of their carry-in
// forms with .cc, source[3] of addc, subc and madc. It is set when an addition carries out, and, after a subtraction,
// when that does not borrow.
//
// mov to or from a vector and mma use only `more`: the elements of the destination, then of each source in order.
struct Operands {
  std::array<RegisterRow, 2> destination;  // second: the `q` of `p|q`, or the carry out
  std::array<RegisterRow, 4> source;
  std::array<bool, 4> negated{};      // for predicate sources
  std::uint32_t immediate = 0;        // lane_immediate(): parameters of the opcode that are not rows
  std::span<const RegisterRow> more;  // register groups of mma and other vector operands, destinations first
};

// Runs one register-only instruction for the active lanes.
using LaneOp = void (*)(const Operands&, const Frame&);

}  // namespace wm::exec
