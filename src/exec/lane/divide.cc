// div and rem on integers. PTX leaves division by zero undefined; the result here is that of the hardware, all ones.
#include "exec/lane/form.h"
#include "exec/lane/integer.h"

namespace wm::exec {

namespace {

using ptx::Opcode;

template <typename T>
WM_LANE T divide(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrapping_sub(T{0}, a);
  return static_cast<T>(a / b);
}

template <typename T>
WM_LANE T remainder(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
  return static_cast<T>(a % b);
}

}  // namespace

LaneOp integer_divide(Form& form) {
  if (ptx::is_untyped(form.type())) return nullptr;
  return by_integer(form.type(), [&]<typename T>(std::type_identity<T>) -> LaneOp {
    return form.opcode() == Opcode::div ? lanes<divide<T>> : lanes<remainder<T>>;
  });
}

}  // namespace wm::exec
