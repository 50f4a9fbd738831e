// setp on integers.
#include "exec/lane/compare.h"

namespace wm::exec {

namespace {

template <Comparison C, typename T>
void setp(const Operands& operands, const Frame& frame) {
  write_setp(operands, frame, compared_lanes<C, T>(operands, frame, [](T x) { return x; }));
}

}  // namespace

LaneOp integer_compare(Form& form) {
  const auto comparison = take_comparison(form);
  if (!comparison) return nullptr;
  const bool ordered = *comparison != Comparison::eq && *comparison != Comparison::ne;
  if (ptx::is_untyped(form.type()) && ordered) return nullptr;
  return by_integer(form.type(), [&]<typename T>(std::type_identity<T>) {
    return by_order(*comparison, [](auto c) -> LaneOp {
      // Equality is the same for both signs.
      const bool order = c() != Comparison::eq && c() != Comparison::ne;
      return setp<c(), std::conditional_t<order, T, Bits<T>>>;
    });
  });
}

}  // namespace wm::exec
