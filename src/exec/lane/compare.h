// Comparison of two values, and the results of setp and set.
#pragma once

#include <cstdint>
#include <optional>

#include "exec/lane/form.h"

namespace wm::exec {

// lo, ls, hi, hs are lt … ge of unsigned types. With a trailing u: true as well when an operand is NaN.
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

std::optional<Comparison> take_comparison(Form& form);

template <Comparison C, typename T>
WM_LANE bool compare(T a, T b) {
  using enum Comparison;
  switch (C) {
    case eq:
      return a == b;
    case ne:
      return std::is_floating_point_v<T> ? a < b || a > b : a != b;
    case lt:
      return a < b;
    case le:
      return a <= b;
    case gt:
      return a > b;
    case ge:
      return a >= b;
    case equ:
      return !(a < b || a > b);
    case neu:
      return a != b;
    case ltu:
      return !(a >= b);
    case leu:
      return !(a > b);
    case gtu:
      return !(a <= b);
    case geu:
      return !(a < b);
    case num:
      return a == a && b == b;
    case nan:
      return a != a || b != b;
  }
  return false;
}

// The operation that joins a comparison with the third operand: .and, .or, .xor. It is kept in the low byte of
// Operands::immediate.
enum class Join : std::uint32_t { none, and_, or_, xor_ };
Join join_of(const ptx::Instruction& instruction);

// (compared join c): the third operand counts only where there is one.
Mask joined(const Operands& operands, const Frame& frame, Mask compared);

// Writes p = compared join c, and q = !compared join c where there is a q.
void write_setp(const Operands& operands, const Frame& frame, Mask compared);

template <Comparison C>
using ComparisonConstant = std::integral_constant<Comparison, C>;

template <typename Choose>
LaneOp by_order(Comparison comparison, Choose&& choose) {
  using enum Comparison;
  switch (comparison) {
    case eq:
      return choose(ComparisonConstant<eq>{});
    case ne:
      return choose(ComparisonConstant<ne>{});
    case lt:
      return choose(ComparisonConstant<lt>{});
    case le:
      return choose(ComparisonConstant<le>{});
    case gt:
      return choose(ComparisonConstant<gt>{});
    case ge:
      return choose(ComparisonConstant<ge>{});
    default:
      return nullptr;
  }
}

// The comparisons of floats: the six above, and those that know NaN.
template <typename Choose>
LaneOp by_comparison(Comparison comparison, Choose&& choose) {
  using enum Comparison;
  switch (comparison) {
    case equ:
      return choose(ComparisonConstant<equ>{});
    case neu:
      return choose(ComparisonConstant<neu>{});
    case ltu:
      return choose(ComparisonConstant<ltu>{});
    case leu:
      return choose(ComparisonConstant<leu>{});
    case gtu:
      return choose(ComparisonConstant<gtu>{});
    case geu:
      return choose(ComparisonConstant<geu>{});
    case num:
      return choose(ComparisonConstant<num>{});
    case nan:
      return choose(ComparisonConstant<nan>{});
    default:
      return by_order(comparison, choose);
  }
}

// The lanes where `C` holds between source 0 and source 1 after `read`.
template <Comparison C, typename T, typename Read>
WM_LANE Mask compared_lanes(const Operands& operands, const Frame& frame, Read&& read) {
  const Source<T> a(operands, frame, 0), b(operands, frame, 1);
  Mask result = 0;
  WM_EACH_LANE result |= static_cast<Mask>(compare<C>(read(a.at(i)), read(b.at(i)))) << i;
  return result;
}

}  // namespace wm::exec
