// f64 arithmetic in integers, for the roundings the host's instructions do not give: exact, then rounded once.
//
// Operands and results are bit patterns. NaN and infinity are for the caller: these take finite numbers, a divisor and
// a root's argument other than zero.
#pragma once

#include <cstdint>

#include "exec/lane/formats.h"
#include "exec/lane/integer.h"

namespace wm::exec {

// (-1)^negative * significand * 2^exponent; the last bit may stand for "and a little more".
struct Exact {
  bool negative = false;
  int exponent = 0;
  Uint128 significand = 0;
};

[[nodiscard]] Exact exact(double finite);
[[nodiscard]] Exact exact_product(double a, double b);
// The sum to 125 bits and more, the rest folded into the last; a sum of zero is negative when rounding down.
[[nodiscard]] Exact exact_sum(const Exact& a, const Exact& b, Rounding rounding);
[[nodiscard]] Exact exact_quotient(double a, double b);
[[nodiscard]] Exact exact_root(double a);

[[nodiscard]] double round_to_double(const Exact& value, Rounding rounding);

}  // namespace wm::exec
