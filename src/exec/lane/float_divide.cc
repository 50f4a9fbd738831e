// div, rcp, sqrt on f32, exactly rounded; div.approx and div.full.
#include "exec/lane/float32.h"
#include "exec/lane/form.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;

// div.approx multiplies by a reciprocal, which is zero for divisors above 2^126.
template <bool Ftz>
WM_LANE float div_approx(float a, float b) {
  const float quotient = div32<Rounding::rn, Ftz>(a, b);
  const std::uint32_t size = magnitude(b);
  const bool huge = size > 0x7e800000U && size < kInfinity<float>;
  const std::uint32_t sign = (bits_of(a) ^ bits_of(b)) & kSign<float>;
  const bool no_number = magnitude(a) >= kInfinity<float>;
  const std::uint32_t swamped = no_number ? Layout<float>::kNan : sign;
  return huge ? from_bits<float>(swamped) : quotient;
}

LaneOp quick_quotient(bool full, bool ftz) {
  if (full) return ftz ? lanes<div32<Rounding::rn, true>> : lanes<div32<Rounding::rn, false>>;
  return ftz ? lanes<div_approx<true>> : lanes<div_approx<false>>;
}

}  // namespace

LaneOp float32_divide(Form& form) {
  const Opcode opcode = form.opcode();
  const bool ftz = form.take(Suffix::ftz);
  if (opcode == Opcode::div && form.take(Suffix::approx)) return quick_quotient(false, ftz);
  if (opcode == Opcode::div && form.take(Suffix::full)) return quick_quotient(true, ftz);
  const auto rounding = form.take_rounding();
  if (!rounding) return nullptr;
  return by_rounding(*rounding, [&](auto r) {
    return by_flag(ftz, [&](auto f) -> LaneOp {
      switch (opcode) {
        case Opcode::div:
          return lanes<div32<decltype(r)::value, f()>>;
        case Opcode::rcp:
          return lanes<rcp32<decltype(r)::value, f()>>;
        case Opcode::sqrt:
          return lanes<sqrt32<decltype(r)::value, f()>>;
        default:
          return nullptr;
      }
    });
  });
}

}  // namespace wm::exec
