// Turns a function of one lane into a routine for 32: `lanes<add<float>>` is the LaneOp that applies `add<float>` to
// every active lane.
//
// Rows are read and written as unsigned integers of their width, so that registers that change their meaning from one
// instruction to the next never break the aliasing rules; the values are cast bit for bit inside the loop.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "exec/lanes.h"

// Source and destination rows are the same row or apart, never shifted against each other.
#if defined(__clang__)
#define WM_EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < ::wm::exec::kLanes; ++i)
#elif defined(__GNUC__)
#define WM_EACH_LANE _Pragma("GCC ivdep") for (int i = 0; i < ::wm::exec::kLanes; ++i)
#else
#define WM_EACH_LANE for (int i = 0; i < ::wm::exec::kLanes; ++i)
#endif

// A function of one lane must be inlined into its loop, or the loop is not vectorised.
#define WM_LANE [[gnu::always_inline]] inline

namespace wm::exec {

template <std::size_t Bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using Type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using Type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using Type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using Type = std::uint64_t;
};

// The unsigned integer as wide as T: the element type of T's rows.
template <typename T>
using Bits = typename UnsignedOf<sizeof(T)>::Type;

// A predicate as the argument of a lane function.
struct Flag {
  bool set = false;
};

// Copies the active lanes of `result`.
template <typename T>
[[gnu::noinline]] void blend(T* destination, const T* result, Mask active) {
  WM_EACH_LANE {
    const T keep = static_cast<T>(static_cast<T>((active >> i) & 1U) - T{1});  // all ones: not active
    destination[i] = static_cast<T>((destination[i] & keep) | (result[i] & static_cast<T>(~keep)));
  }
}

// Calls `body` with the row to write, and preserves the lanes that are not active. The common case, all lanes active,
// writes in place.
template <typename T, typename Body>
WM_LANE void write_row(const Frame& frame, RegisterRow operand, Body&& body) {
  T result[kLanes];
  T* destination = frame.destination<T>(operand);
  const bool all = frame.active == kAllLanes;
  body(all ? destination : result);
  if (!all) blend(destination, result, frame.active);
}

inline void write_mask(const Frame& frame, RegisterRow operand, Mask value) {
  if (operand.none()) return;
  auto* destination = frame.destination<Mask>(operand);
  *destination = (*destination & ~frame.active) | (value & frame.active);
}

// A source row, or a predicate, negated if the instruction says so.
template <typename T>
struct Source {
  const Bits<T>* row;
  Source(const Operands& operands, const Frame& frame, std::size_t index)
      : row(frame.source<Bits<T>>(operands.source[index])) {}
  [[nodiscard, gnu::always_inline]] T at(int lane) const { return std::bit_cast<T>(row[lane]); }
};
template <>
struct Source<Flag> {
  Mask mask;
  Source(const Operands& operands, const Frame& frame, std::size_t index)
      : mask(frame.predicate(operands.source[index]) ^ (operands.negated[index] ? kAllLanes : 0U)) {}
  [[nodiscard, gnu::always_inline]] Flag at(int lane) const { return {((mask >> lane) & 1U) != 0}; }
};

namespace detail {

template <auto Function, typename D, typename... S, std::size_t... Index>
WM_LANE void run(const Operands& operands, const Frame& frame, D (*)(S...), std::index_sequence<Index...>) {
  const auto apply = [&](auto*... rows) __attribute__((always_inline)) {
    if constexpr (std::is_same_v<D, Flag>) {
      Mask result = 0;
      WM_EACH_LANE result |= static_cast<Mask>(Function(rows->at(i)...).set) << i;
      write_mask(frame, operands.destination[0], result);
    } else {
      write_row<Bits<D>>(
          frame, operands.destination[0], [&](Bits<D> * out) __attribute__((always_inline)) {
            WM_EACH_LANE out[i] = std::bit_cast<Bits<D>>(Function(rows->at(i)...));
          });
    }
  };
  const auto bind = [&](Source<S>... rows) __attribute__((always_inline)) { apply(&rows...); };
  bind(Source<S>(operands, frame, Index)...);
}

template <auto Function, typename D, typename... S>
WM_LANE void run(const Operands& operands, const Frame& frame, D (*signature)(S...)) {
  run<Function>(operands, frame, signature, std::index_sequence_for<S...>{});
}

}  // namespace detail

// The LaneOp of a lane function `D f(A, B, …)`: sources in the order of its parameters, its result to destination[0].
template <auto Function>
void lanes(const Operands& operands, const Frame& frame) {
  detail::run<Function>(operands, frame, Function);
}

}  // namespace wm::exec
