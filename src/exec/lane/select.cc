// selp, slct.
#include "exec/lane/form.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

// Written as bits joined by a mask: a branch would keep the loop from becoming vector code.
template <typename T>
WM_LANE T choose(bool first, T a, T b) {
  const T keep = static_cast<T>(-static_cast<T>(first));
  return static_cast<T>((a & keep) | (b & static_cast<T>(~keep)));
}
template <typename T>
WM_LANE T select(T a, T b, Flag c) {
  return choose(c.set, a, b);
}
template <typename T>
WM_LANE T select_by_sign(T a, T b, std::int32_t c) {
  return choose(c >= 0, a, b);
}
// NaN selects b; minus zero counts as zero.
template <typename T, bool Ftz>
WM_LANE T select_by_float(T a, T b, float c) {
  return choose(flush<Ftz>(c) >= 0, a, b);
}

template <typename Choose>
LaneOp by_bytes(int bytes, Choose&& choose) {
  switch (bytes) {
    case 2:
      return choose(std::uint16_t{});
    case 4:
      return choose(std::uint32_t{});
    case 8:
      return choose(std::uint64_t{});
    default:
      return nullptr;
  }
}

}  // namespace

LaneOp selection(Form& form) {
  const int bytes = ptx::bytes(form.type());
  if (form.opcode() == Opcode::selp)
    return by_bytes(bytes, [](auto zero) -> LaneOp { return lanes<select<decltype(zero)>>; });
  const bool ftz = form.take(Suffix::ftz);
  if (form.type(1) == Type::s32)
    return by_bytes(bytes, [](auto zero) -> LaneOp { return lanes<select_by_sign<decltype(zero)>>; });
  if (form.type(1) != Type::f32) return nullptr;
  return by_bytes(bytes, [&](auto zero) {
    return by_flag(ftz, [&](auto f) -> LaneOp { return lanes<select_by_float<decltype(zero), f()>>; });
  });
}

}  // namespace wm::exec
