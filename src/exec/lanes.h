// How a warp's registers lie in memory, and the form of a decoded instruction that works on registers alone.
//
// A register of N bits is a row of 32 N-bit values, one a lane, so that an instruction is a loop of 32 that the compiler
// turns into vector code. A predicate is one 32-bit mask, bit i for lane i. 16-bit registers are rows of 16-bit values.
// Immediates become rows of a constant pool at decode, so every source operand is a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace wm::exec {

inline constexpr int kLanes = 32;
using Mask = std::uint32_t;
inline constexpr Mask kAllLanes = 0xffffffffU;

// Where a row lies: a byte offset from the warp's registers, or, with the top bit set, from the constant pool.
struct Slot {
  static constexpr std::uint32_t kConstant = 0x80000000U;
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t value = kNone;

  [[nodiscard]] constexpr bool none() const { return value == kNone; }
  [[nodiscard]] constexpr bool constant() const { return (value & kConstant) != 0; }
  [[nodiscard]] constexpr std::uint32_t offset() const { return value & ~kConstant; }
};

// What a register-only instruction sees of its warp. `active` are the lanes that execute it (guard applied, never 0).
struct Frame {
  std::byte* registers = nullptr;
  const std::byte* constants = nullptr;
  Mask active = kAllLanes;

  template <typename T>
  [[nodiscard]] const T* source(Slot s) const {
    const std::byte* base = s.constant() ? constants : registers;
    return reinterpret_cast<const T*>(base + s.offset());
  }
  template <typename T>
  [[nodiscard]] T* destination(Slot s) const {
    return reinterpret_cast<T*>(registers + s.offset());
  }
  [[nodiscard]] Mask predicate(Slot s) const { return *source<Mask>(s); }
};

// The operands of one decoded register-only instruction. Lanes outside Frame::active keep their destination.
struct Operands {
  std::array<Slot, 2> destination;    // second: the `q` of `p|q`, or a carry-out
  std::array<Slot, 4> source;
  std::array<bool, 4> negated{};      // of predicate sources
  std::uint32_t immediate = 0;        // lop3 table, prmt mode: what the opcode needs beyond rows
  std::span<const Slot> more;         // register groups of mma and friends, destinations first
};

// Runs one register-only instruction for the active lanes.
using LaneOp = void (*)(const Operands&, const Frame&);

}  // namespace wm::exec
