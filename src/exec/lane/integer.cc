// add, sub, abs, neg, min, max, sad on integers.
#include "exec/lane/integer.h"

#include "exec/lane/form.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

template <typename T>
WM_LANE T add(T a, T b) {
  return wrapping_add(a, b);
}
template <typename T>
WM_LANE T sub(T a, T b) {
  return wrapping_sub(a, b);
}
WM_LANE std::int32_t add_sat(std::int32_t a, std::int32_t b) {
  return clamp_to<std::int32_t>(std::int64_t{a} + std::int64_t{b});
}
WM_LANE std::int32_t sub_sat(std::int32_t a, std::int32_t b) {
  return clamp_to<std::int32_t>(std::int64_t{a} - std::int64_t{b});
}
template <typename T>
WM_LANE T neg(T a) {
  return wrapping_sub(T{0}, a);
}
template <typename T>
WM_LANE T abs(T a) {
  return a < 0 ? neg(a) : a;
}
template <typename T>
WM_LANE T min(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
WM_LANE T max(T a, T b) {
  return a > b ? a : b;
}
WM_LANE std::int32_t min_relu(std::int32_t a, std::int32_t b) { return max(min(a, b), 0); }
WM_LANE std::int32_t max_relu(std::int32_t a, std::int32_t b) { return max(max(a, b), 0); }
template <typename T>
WM_LANE T sad(T a, T b, T c) {
  return wrapping_add(c, a < b ? wrapping_sub(b, a) : wrapping_sub(a, b));
}

LaneOp signed_only(Opcode opcode, Type type) {
  return by_integer(type, [&]<typename T>(std::type_identity<T>) -> LaneOp {
    if constexpr (std::is_signed_v<T>) return opcode == Opcode::abs ? lanes<abs<T>> : lanes<neg<T>>;
    return nullptr;
  });
}

LaneOp saturating(Opcode opcode, Type type) {
  if (type != Type::s32) return nullptr;
  return opcode == Opcode::add ? lanes<add_sat> : lanes<sub_sat>;
}

LaneOp rectified(Opcode opcode, Type type) {
  if (type != Type::s32) return nullptr;
  return opcode == Opcode::min ? lanes<min_relu> : lanes<max_relu>;
}

}  // namespace

LaneOp integer_arithmetic(Form& form) {
  const Opcode opcode = form.opcode();
  const Type type = form.type();
  if (opcode == Opcode::abs || opcode == Opcode::neg) return signed_only(opcode, type);
  if ((opcode == Opcode::add || opcode == Opcode::sub) && form.take(Suffix::sat)) return saturating(opcode, type);
  if ((opcode == Opcode::min || opcode == Opcode::max) && form.take(Suffix::relu)) return rectified(opcode, type);
  if (ptx::is_untyped(type)) return nullptr;
  return by_integer(type, [&]<typename T>(std::type_identity<T>) -> LaneOp {
    switch (opcode) {
      case Opcode::add:
        return lanes<add<Bits<T>>>;
      case Opcode::sub:
        return lanes<sub<Bits<T>>>;
      case Opcode::min:
        return lanes<min<T>>;
      case Opcode::max:
        return lanes<max<T>>;
      case Opcode::sad:
        return lanes<sad<T>>;
      default:
        return nullptr;
    }
  });
}

}  // namespace wm::exec
