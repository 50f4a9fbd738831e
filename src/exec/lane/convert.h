// The parameters of a conversion apart from its rows, packed into Operands::immediate.
//
// The conversions that matter for speed are routines of their own. All the others take two steps through a row of
// doubles or of 64-bit integers, which hold every narrower value exactly, and choose by this plan once an instruction.
#pragma once

#include <array>
#include <cstdint>

#include "exec/lane/form.h"

namespace wm::exec {

struct ConversionPlan {
  ptx::Type from = ptx::Type::none;
  ptx::Type to = ptx::Type::none;
  int from_bytes = 0;  // size of the registers, which may be wider than the types
  int to_bytes = 0;
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool finite = false;  // .satfinite

  [[nodiscard]] std::uint32_t pack() const;
  [[nodiscard]] static ConversionPlan unpack(std::uint32_t immediate);
};

ConversionPlan conversion_plan(const ptx::Instruction& instruction, std::span<const ptx::Type> operand_types);

// 32 integers with the sign or the zeros of their type up to 64 bits.
using IntegerRow = std::array<std::uint64_t, kLanes>;
IntegerRow load_integers(const ConversionPlan& plan, const Operands& operands, const Frame& frame);
// Each value, cut to the type and extended to the register.
void store_integers(const ConversionPlan& plan, const Operands& operands, const Frame& frame, IntegerRow& row);

// 32 floats of any format, exactly; subnormals flushed where the plan says so.
using FloatRow = std::array<double, kLanes>;
FloatRow load_floats(ptx::Type type, bool ftz, RegisterRow operand, const Frame& frame);

}  // namespace wm::exec
