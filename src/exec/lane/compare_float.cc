// setp on f32 and f64.
#include "exec/lane/compare.h"

namespace wm::exec {

namespace {

template <Comparison C, typename T, bool Ftz>
void setp(const Operands& operands, const Frame& frame) {
  write_setp(operands, frame, compared_lanes<C, T>(operands, frame, [](T x) { return flush<Ftz>(x); }));
}

}  // namespace

LaneOp float_compare(Form& form) {
  const auto comparison = take_comparison(form);
  if (!comparison) return nullptr;
  const bool is_double = form.type() == ptx::Type::f64;
  const bool ftz = !is_double && form.take(ptx::Suffix::ftz);
  return by_comparison(*comparison, [&](auto c) -> LaneOp {
    if (is_double) return setp<c(), double, false>;
    return by_flag(ftz, [](auto f) -> LaneOp { return setp<decltype(c)::value, float, f()>; });
  });
}

}  // namespace wm::exec
