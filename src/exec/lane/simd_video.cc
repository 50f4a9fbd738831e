// The SIMD video instructions: vadd2, vsub4, vabsdiff4, … on two or four integers in one register.
//
// Elements are computed without loss. Without .sat a result keeps its low bits, with .sat it is cut to the range of the
// destination's type, and with .add the elements are added to the third source. Selections of bytes (.b7654) and masks
// are not parsed.
#include "exec/lane/form.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

enum class End : std::uint8_t { wrap, saturate, accumulate };
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };

// The signs, the end and the comparison of an instruction, packed into Operands::immediate.
struct Plan {
  bool signed_result, signed_a, signed_b;
  End end;
  Comparison comparison;

  [[nodiscard]] std::uint32_t pack() const {
    return (signed_result ? 1U : 0U) | (signed_a ? 2U : 0U) | (signed_b ? 4U : 0U) |
           static_cast<std::uint32_t>(end) << 3 | static_cast<std::uint32_t>(comparison) << 5;
  }
  static Plan unpack(std::uint32_t bits) {
    return {(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0, static_cast<End>(bits >> 3 & 3U),
            static_cast<Comparison>(bits >> 5 & 7U)};
  }
};

bool compare(Comparison comparison, int a, int b) {
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    case Comparison::ge:
      return a >= b;
  }
  return false;
}

// Two elements have the operation of the opcode with a 2 at its end.
template <Opcode Op>
int one(int a, int b, Comparison comparison) {
  switch (Op) {
    case Opcode::vadd2:
      return a + b;
    case Opcode::vsub2:
      return a - b;
    case Opcode::vavrg2:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Opcode::vabsdiff2:
      return a > b ? a - b : b - a;
    case Opcode::vmin2:
      return a < b ? a : b;
    case Opcode::vmax2:
      return a > b ? a : b;
    default:
      return compare(comparison, a, b) ? 1 : 0;
  }
}

template <int Bits>
int element(std::uint32_t word, int index, bool is_signed) {
  const int shift = 32 - Bits;
  const std::uint32_t top = word << (shift - index * Bits);
  return is_signed ? static_cast<std::int32_t>(top) >> shift : static_cast<int>(top >> shift);
}

template <int Bits>
int saturated(int value, bool is_signed) {
  const int low = is_signed ? -(1 << (Bits - 1)) : 0, high = is_signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  return value < low ? low : value > high ? high : value;
}

template <Opcode Op, int Bits>
void run(const Operands& operands, const Frame& frame) {
  const Plan plan = Plan::unpack(operands.immediate);
  const Source<std::uint32_t> a(operands, frame, 0), b(operands, frame, 1), c(operands, frame, 2);
  std::uint32_t result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    std::uint32_t packed = 0, sum = c.at(lane);
    for (int i = 0; i < 32 / Bits; ++i) {
      const int value = one<Op>(element<Bits>(a.at(lane), i, plan.signed_a),
                                element<Bits>(b.at(lane), i, plan.signed_b), plan.comparison);
      const int kept = plan.end == End::saturate ? saturated<Bits>(value, plan.signed_result) : value;
      packed |= (static_cast<std::uint32_t>(kept) & ((1U << Bits) - 1)) << (i * Bits);
      sum += static_cast<std::uint32_t>(value);
    }
    result[lane] = plan.end == End::accumulate ? sum : packed;
  }
  blend(frame.destination<std::uint32_t>(operands.destination[0]), result, frame.active);
}

template <int Bits>
LaneOp of(int operation) {
  static constexpr LaneOp kRoutines[] = {
      run<Opcode::vadd2, Bits>, run<Opcode::vsub2, Bits>, run<Opcode::vavrg2, Bits>, run<Opcode::vabsdiff2, Bits>,
      run<Opcode::vmin2, Bits>, run<Opcode::vmax2, Bits>, run<Opcode::vset2, Bits>};
  return kRoutines[operation];
}

constexpr std::array<std::pair<Suffix, Comparison>, 6> kComparisons{{{Suffix::eq, Comparison::eq},
                                                                     {Suffix::ne, Comparison::ne},
                                                                     {Suffix::lt, Comparison::lt},
                                                                     {Suffix::le, Comparison::le},
                                                                     {Suffix::gt, Comparison::gt},
                                                                     {Suffix::ge, Comparison::ge}}};

}  // namespace

std::uint32_t simd_video_immediate(const ptx::Instruction& i) {
  const bool set = i.opcode == Opcode::vset2 || i.opcode == Opcode::vset4;
  const auto type = [&](std::size_t index) { return index < i.types.size() && i.types[index] == Type::s32; };
  Plan plan{!set && type(0), type(set ? 0 : 1), type(set ? 1 : 2), End::wrap, Comparison::eq};
  if (i.has(Suffix::sat)) plan.end = End::saturate;
  if (i.has(Suffix::add)) plan.end = End::accumulate;
  for (const auto& [suffix, comparison] : kComparisons)
    if (i.has(suffix)) plan.comparison = comparison;
  return plan.pack();
}

LaneOp simd_video(Form& form) {
  form.take(Suffix::sat), form.take(Suffix::add);
  for (const auto& entry : kComparisons) form.take(entry.first);
  const bool four = form.opcode() >= Opcode::vadd4;
  const int operation = static_cast<int>(form.opcode()) - static_cast<int>(four ? Opcode::vadd4 : Opcode::vadd2);
  return four ? of<8>(operation) : of<16>(operation);
}

}  // namespace wm::exec
