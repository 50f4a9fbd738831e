// The SIMD video instructions: vadd2, vsub4, vabsdiff4, … on two or four integers in one register.
//
// Elements are computed without loss. Without .sat a result keeps its low bits, with .sat it is cut to the range of the
// destination's type, and with .add the elements are added to the third source. Each element of a and b may be chosen
// from both registers (a.b7654), and a mask of the destination (d.b10) takes the other elements from the third source.
#include "exec/lane/form.h"
#include "exec/lane_ops.h"

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

// The elements of {b, a} that an operand selects, four bits each from the lowest, and the mask of the destination.
struct Selection {
  std::uint32_t a = 0x3210, b = 0x7654;
  std::uint32_t mask = 0xf;

  template <int Bits>
  static Selection of(const Operands& operands, const Frame& frame) {
    Selection s;
    if constexpr (Bits == 16) s.b = 0x32;
    if (operands.source[3].none()) return s;
    const std::uint32_t packed = frame.source<std::uint32_t>(operands.source[3])[0];
    if ((packed >> 28 & 1U) != 0) s.a = spread(packed);
    if ((packed >> 29 & 1U) != 0) s.b = spread(packed >> 12);
    s.mask = packed >> 24 & 0xfU;
    return s;
  }
  static std::uint32_t spread(std::uint32_t digits) {
    return (digits & 7U) | (digits & 070U) << 1 | (digits & 0700U) << 2 | (digits & 07000U) << 3;
  }
};

// Element `index` of what `selected` chooses from a and b.
template <int Bits>
int chosen(std::uint32_t a, std::uint32_t b, std::uint32_t selected, int index, bool is_signed) {
  constexpr std::uint32_t kCount = 32 / Bits;
  const std::uint32_t digit = selected >> (4 * index) & 0xfU;
  return element<Bits>(digit < kCount ? a : b, static_cast<int>(digit % kCount), is_signed);
}

template <Opcode Op, int Bits>
void run(const Operands& operands, const Frame& frame) {
  const Plan plan = Plan::unpack(operands.immediate);
  const Selection selection = Selection::of<Bits>(operands, frame);
  const Source<std::uint32_t> a(operands, frame, 0), b(operands, frame, 1), c(operands, frame, 2);
  std::uint32_t result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    std::uint32_t packed = 0, sum = c.at(lane);
    for (int i = 0; i < 32 / Bits; ++i) {
      const std::uint32_t field = ((1U << Bits) - 1) << (i * Bits);
      if ((selection.mask >> i & 1U) == 0) {
        packed |= c.at(lane) & field;
        continue;
      }
      const int value = one<Op>(chosen<Bits>(a.at(lane), b.at(lane), selection.a, i, plan.signed_a),
                                chosen<Bits>(a.at(lane), b.at(lane), selection.b, i, plan.signed_b), plan.comparison);
      const int kept = plan.end == End::saturate ? saturated<Bits>(value, plan.signed_result) : value;
      packed |= static_cast<std::uint32_t>(kept) << (i * Bits) & field;
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

std::uint32_t simd_video_selection(const ptx::Instruction& i) {
  const auto selected = [&](std::size_t operand) -> std::uint64_t {
    return i.operands[operand].kind == ptx::Operand::Kind::reg ? i.operands[operand].bits : 0;
  };
  const auto digits = [&](std::size_t operand) -> std::uint32_t {
    const std::uint64_t bits = selected(operand);
    return static_cast<std::uint32_t>((bits & 7U) | (bits >> 4 & 7U) << 3 | (bits >> 8 & 7U) << 6 |
                                      (bits >> 12 & 7U) << 9);
  };
  std::uint32_t mask = 0;
  const std::uint64_t written = i.operands[0].bits;
  for (std::uint64_t digit = 0; digit < (written >> 16 & 0xffU); ++digit) mask |= 1U << (written >> (4 * digit) & 3U);
  return digits(1) | digits(2) << 12 | (written == 0 ? 0xfU : mask) << 24 | (selected(1) != 0 ? 1U << 28 : 0U) |
         (selected(2) != 0 ? 1U << 29 : 0U);
}

LaneOp simd_video(Form& form) {
  form.take(Suffix::sat), form.take(Suffix::add);
  for (const auto& entry : kComparisons) form.take(entry.first);
  const bool four = form.opcode() >= Opcode::vadd4;
  const int operation = static_cast<int>(form.opcode()) - static_cast<int>(four ? Opcode::vadd4 : Opcode::vadd2);
  return four ? of<8>(operation) : of<16>(operation);
}

}  // namespace wm::exec
