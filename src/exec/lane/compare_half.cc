// setp on f16, bf16 and their pairs. For a pair, p is the comparison of the low halves and q that of the high ones.
#include "exec/lane/compare.h"
#include "exec/lane/half.h"

namespace wm::exec {

namespace {

template <Comparison C, typename T, bool Ftz>
void setp(const Operands& operands, const Frame& frame) {
  const Source<T> a(operands, frame, 0), b(operands, frame, 1);
  Mask result = 0;
  for (int i = 0; i < kLanes; ++i)
    result |= static_cast<Mask>(compare<C>(widen(flush<Ftz>(a.at(i))), widen(flush<Ftz>(b.at(i))))) << i;
  write_setp(operands, frame, result);
}

template <Comparison C, typename T, bool Ftz>
void setp_pair(const Operands& operands, const Frame& frame) {
  const Source<std::uint32_t> a(operands, frame, 0), b(operands, frame, 1);
  Mask result[2] = {0, 0};
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < kLanes; ++i) {
      const T x{static_cast<std::uint16_t>(a.at(i) >> (16 * half))},
          y{static_cast<std::uint16_t>(b.at(i) >> (16 * half))};
      result[half] |= static_cast<Mask>(compare<C>(widen(flush<Ftz>(x)), widen(flush<Ftz>(y)))) << i;
    }
  }
  const Mask p = joined(operands, frame, result[0]), q = joined(operands, frame, result[1]);
  write_mask(frame, operands.destination[0], p);
  write_mask(frame, operands.destination[1], q);
}

}  // namespace

LaneOp half_compare(Form& form) {
  const auto comparison = take_comparison(form);
  if (!comparison) return nullptr;
  const bool pair = is_pair(form.type()), brain = is_brain(form.type());
  const bool ftz = !brain && form.take(ptx::Suffix::ftz);
  return by_comparison(*comparison, [&](auto c) -> LaneOp {
    if (brain) return pair ? setp_pair<c(), Brain, false> : setp<c(), Brain, false>;
    if (ftz) return pair ? setp_pair<c(), Half, true> : setp<c(), Half, true>;
    return pair ? setp_pair<c(), Half, false> : setp<c(), Half, false>;
  });
}

}  // namespace wm::exec
