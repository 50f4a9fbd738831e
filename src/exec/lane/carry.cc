// Extended precision: add.cc, addc, sub.cc, subc, mad.cc, madc. The carry is a predicate row, see lanes.h.
#include "exec/lane/form.h"
#include "exec/lane/integer.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

// A result and the carry out. A subtraction is the addition of the complement, as the hardware does it: it carries out
// when it does not borrow, and borrows in when the carry is clear. So addc may follow sub.cc, and subc may follow
// add.cc.
template <typename T>
struct Carried {
  T value;
  bool out;
};

template <typename T>
WM_LANE Carried<T> add(T a, T b, bool in) {
  const T sum = a + b, total = sum + static_cast<T>(in);
  return {total, sum < a || total < sum};
}
template <typename T>
WM_LANE Carried<T> sub(T a, T b, bool in) {
  const T difference = a - b, total = difference - static_cast<T>(!in);
  return {total, a >= b && difference >= total};
}

// The carry in is clear for additions and set for subtractions without one. All rows are read before any is written,
// since the carry is read from and written to the same row.
template <bool In, bool Out, bool Subtract, typename T, typename Lane>
WM_LANE void run(const Operands& operands, const Frame& frame, Lane&& lane) {
  const Mask in = In ? frame.predicate(operands.source[3]) : Subtract ? kAllLanes : 0;
  T result[kLanes];
  Mask out = 0;
  for (int i = 0; i < kLanes; ++i) {
    const Carried<T> carried = lane(i, ((in >> i) & 1U) != 0);
    result[i] = carried.value;
    out |= static_cast<Mask>(carried.out) << i;
  }
  blend(frame.destination<T>(operands.destination[0]), result, frame.active);
  if constexpr (Out) write_mask(frame, operands.destination[1], out);
}

template <bool In, bool Out, typename T, bool Subtract>
void add_rows(const Operands& operands, const Frame& frame) {
  const Source<T> a(operands, frame, 0), b(operands, frame, 1);
  run<In, Out, Subtract, T>(operands, frame, [&](int i, bool in) {
    return Subtract ? sub<T>(a.at(i), b.at(i), in) : add<T>(a.at(i), b.at(i), in);
  });
}

template <bool In, bool Out, typename T, bool High>
void mad_rows(const Operands& operands, const Frame& frame) {
  using Unsigned = Bits<T>;
  const Source<T> a(operands, frame, 0), b(operands, frame, 1);
  const Source<Unsigned> c(operands, frame, 2);
  run<In, Out, false, Unsigned>(operands, frame, [&](int i, bool in) {
    const auto product = static_cast<Wide<T>>(a.at(i)) * static_cast<Wide<T>>(b.at(i));
    const auto half = static_cast<Unsigned>(High ? product >> (sizeof(T) * 8) : product);
    return add<Unsigned>(half, c.at(i), in);
  });
}

template <bool In, bool Out>
LaneOp chosen(Form& form) {
  const Opcode opcode = form.opcode();
  if (opcode == Opcode::mad || opcode == Opcode::madc) {
    const bool high = form.take(Suffix::hi);
    if (!high && !form.take(Suffix::lo)) return nullptr;
    return by_integer(form.type(), [&]<typename T>(std::type_identity<T>) -> LaneOp {
      if constexpr (sizeof(T) == 2) return nullptr;
      return high ? mad_rows<In, Out, T, true> : mad_rows<In, Out, T, false>;
    });
  }
  const bool subtract = opcode == Opcode::sub || opcode == Opcode::subc;
  switch (ptx::bits(form.type())) {
    case 32:
      return subtract ? add_rows<In, Out, std::uint32_t, true> : add_rows<In, Out, std::uint32_t, false>;
    case 64:
      return subtract ? add_rows<In, Out, std::uint64_t, true> : add_rows<In, Out, std::uint64_t, false>;
    default:
      return nullptr;
  }
}

}  // namespace

LaneOp carry_arithmetic(Form& form) {
  if (ptx::is_untyped(form.type()) || ptx::is_float(form.type())) return nullptr;
  const Opcode opcode = form.opcode();
  const bool in = opcode == Opcode::addc || opcode == Opcode::subc || opcode == Opcode::madc;
  const bool out = form.take(Suffix::cc);
  if (in) return out ? chosen<true, true>(form) : chosen<true, false>(form);
  return out ? chosen<false, true>(form) : nullptr;
}

}  // namespace wm::exec
