// set from f16, bf16 and their pairs.
#include "exec/lane/half.h"
#include "exec/lane/set.h"

namespace wm::exec {

namespace {

using ptx::Suffix;
using ptx::Type;

template <Comparison C, typename T, bool Ftz>
void set_one(const Operands& operands, const Frame& frame) {
  write_set(operands, frame, compared_lanes<C, T>(operands, frame, [](T x) { return widen(flush<Ftz>(x)); }));
}

template <Comparison C, typename T, bool Ftz>
void set_pair(const Operands& operands, const Frame& frame) {
  const Source<std::uint32_t> a(operands, frame, 0), b(operands, frame, 1);
  Mask result[2] = {0, 0};
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < kLanes; ++i) {
      const T x{static_cast<std::uint16_t>(a.at(i) >> (16 * half))},
          y{static_cast<std::uint16_t>(b.at(i) >> (16 * half))};
      result[half] |= static_cast<Mask>(compare<C>(widen(flush<Ftz>(x)), widen(flush<Ftz>(y)))) << i;
    }
  }
  write_set_pair(operands, frame, result[0], result[1]);
}

bool takes(Type to, bool pair) {
  switch (to) {
    case Type::f16:
    case Type::bf16:
    case Type::u16:
    case Type::s16:
      return !pair;
    case Type::f16x2:
    case Type::bf16x2:
      return pair;
    case Type::u32:
    case Type::s32:
      return true;
    default:
      return false;
  }
}

}  // namespace

LaneOp set_half(Form& form, Comparison comparison) {
  const Type from = form.type(1);
  const bool pair = is_pair(from), brain = is_brain(from);
  const bool ftz = !brain && form.take(Suffix::ftz);
  if (!takes(form.type(0), pair)) return nullptr;
  return by_comparison(comparison, [&](auto c) -> LaneOp {
    if (brain) return pair ? set_pair<c(), Brain, false> : set_one<c(), Brain, false>;
    if (ftz) return pair ? set_pair<c(), Half, true> : set_one<c(), Half, true>;
    return pair ? set_pair<c(), Half, false> : set_one<c(), Half, false>;
  });
}

}  // namespace wm::exec
