// The form of an instruction for which a routine is looked up: the parts of its name, and the dispatch from run-time
// choices to template arguments.
//
// A family of instructions (integer arithmetic, comparisons, …) is one function that takes a Form and returns the
// routine, or null where it has none. It `take`s the suffixes it understands; lane_op refuses a form with suffixes that
// are left.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "exec/lane/formats.h"
#include "exec/lanes.h"
#include "ptx/ir.h"

namespace wm::exec {

class Form {
 public:
  Form(const ptx::Instruction& instruction, std::span<const ptx::Type> operand_types)
      : instruction_(instruction), operand_types_(operand_types), taken_(instruction.suffixes.size(), false) {}

  [[nodiscard]] ptx::Opcode opcode() const { return instruction_.opcode; }
  [[nodiscard]] const ptx::Instruction& instruction() const { return instruction_; }
  [[nodiscard]] ptx::Type type(std::size_t index = 0) const;
  // Bytes of the register row of an operand; the type's own where the operand is no register.
  [[nodiscard]] int row_bytes(std::size_t operand, ptx::Type type) const;

  // Whether the suffix is there; it is then understood.
  bool take(ptx::Suffix suffix);
  // .rn .rz .rm .rp .rna, and their integer forms .rni …
  std::optional<Rounding> take_rounding();
  std::optional<Rounding> take_integer_rounding();
  // The first suffix that no `take` has consumed.
  [[nodiscard]] std::optional<ptx::Suffix> left_over() const;

 private:
  const ptx::Instruction& instruction_;
  std::span<const ptx::Type> operand_types_;
  std::vector<bool> taken_;
};

// Calls `choose` with std::true_type or std::false_type.
template <typename Choose>
LaneOp by_flag(bool flag, Choose&& choose) {
  return flag ? choose(std::true_type{}) : choose(std::false_type{});
}

template <Rounding R>
using RoundingConstant = std::integral_constant<Rounding, R>;

template <typename Choose>
LaneOp by_rounding(Rounding rounding, Choose&& choose) {
  switch (rounding) {
    case Rounding::rn:
      return choose(RoundingConstant<Rounding::rn>{});
    case Rounding::rz:
      return choose(RoundingConstant<Rounding::rz>{});
    case Rounding::rm:
      return choose(RoundingConstant<Rounding::rm>{});
    case Rounding::rp:
      return choose(RoundingConstant<Rounding::rp>{});
    case Rounding::rna:
      break;
  }
  return nullptr;
}

// Calls `choose` with std::type_identity of the C++ type of an integer type of 16 to 64 bits; untyped bits are
// unsigned.
template <typename Choose>
LaneOp by_integer(ptx::Type type, Choose&& choose) {
  using ptx::Type;
  switch (type) {
    case Type::u16:
    case Type::b16:
      return choose(std::type_identity<std::uint16_t>{});
    case Type::s16:
      return choose(std::type_identity<std::int16_t>{});
    case Type::u32:
    case Type::b32:
      return choose(std::type_identity<std::uint32_t>{});
    case Type::s32:
      return choose(std::type_identity<std::int32_t>{});
    case Type::u64:
    case Type::b64:
      return choose(std::type_identity<std::uint64_t>{});
    case Type::s64:
      return choose(std::type_identity<std::int64_t>{});
    default:
      return nullptr;
  }
}

// The signs of a fused multiply-add: contraction (ptx/contraction.h) negates the product or the addend.
struct FmaSigns {
  bool product = false;
  bool addend = false;
};
inline constexpr FmaSigns kPlus{}, kMinusProduct{true, false}, kMinusAddend{false, true}, kMinusBoth{true, true};
FmaSigns fma_signs(const ptx::Instruction& instruction);

std::uint32_t simd_video_immediate(const ptx::Instruction& instruction);

// The families; each in its own file.
LaneOp integer_arithmetic(Form& form);  // integer.cc
LaneOp integer_multiply(Form& form);    // multiply.cc
LaneOp integer_divide(Form& form);      // divide.cc
LaneOp carry_arithmetic(Form& form);    // carry.cc
LaneOp packed_integer(Form& form);      // packed_integer.cc
LaneOp bit_counting(Form& form);        // bits.cc
LaneOp dot_product(Form& form);         // dot.cc
LaneOp simd_video(Form& form);          // simd_video.cc
LaneOp logic(Form& form);               // logic.cc
LaneOp shift(Form& form);               // shift.cc
LaneOp float32_arithmetic(Form& form);  // float32.cc
LaneOp float32_fma(Form& form);         // fma.cc
LaneOp float64_fma_nearest(FmaSigns signs);
LaneOp float32_divide(Form& form);      // float_divide.cc
LaneOp float64_arithmetic(Form& form);  // float64.cc
LaneOp half_arithmetic(Form& form);     // half.cc
LaneOp float_extremes(Form& form);      // extremes.cc
LaneOp float_signs(Form& form);         // signs.cc
LaneOp approximation(Form& form);       // approximate.cc
LaneOp integer_compare(Form& form);     // compare_integer.cc
LaneOp float_compare(Form& form);       // compare_float.cc
LaneOp half_compare(Form& form);        // compare_half.cc
LaneOp set_value(Form& form);           // set.cc
LaneOp selection(Form& form);           // select.cc
LaneOp move(Form& form);                // move.cc
LaneOp conversion(Form& form);          // convert.cc
LaneOp convert_from_integer(Form& form);
LaneOp convert_to_integer(Form& form);
LaneOp convert_between_floats(Form& form);
LaneOp convert_packed(Form& form);
LaneOp matrix_multiply(Form& form);  // mma.cc
LaneOp sparse_multiply(Form& form);  // sparse_mma.cc
LaneOp tile_multiply(Form& form);    // wmma.cc

}  // namespace wm::exec
