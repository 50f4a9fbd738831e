// A warp of its own for one instruction: give it a name and source rows, get the destination rows back.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "exec/lane_ops.h"

namespace wm::exec::test {

// "setp.lt.and.f32" taken apart as the parser does. Throws on a part that is no word of PTX.
inline ptx::Instruction named(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t dot = std::min(text.find('.', at), text.size());
    parts.emplace_back(text.substr(at, dot - at));
    at = dot + 1;
  }
  ptx::Instruction instruction;
  std::size_t used = 1;
  if (parts.size() > 1 && ptx::opcode_named(parts[0] + "." + parts[1])) {
    instruction.opcode = *ptx::opcode_named(parts[0] + "." + parts[1]);
    used = 2;
  } else if (const auto opcode = ptx::opcode_named(parts[0]); opcode) {
    instruction.opcode = *opcode;
  } else {
    throw std::invalid_argument("no opcode: " + parts[0]);
  }
  for (; used < parts.size(); ++used) {
    if (const auto type = ptx::type_named(parts[used]); type)
      instruction.types.push_back(*type);
    else if (const auto suffix = ptx::suffix_named(parts[used]); suffix)
      instruction.suffixes.push_back(*suffix);
    else
      throw std::invalid_argument("no suffix: " + parts[used]);
  }
  return instruction;
}

inline ptx::Operand reg_operand() {
  ptx::Operand operand;
  operand.kind = ptx::Operand::Kind::reg;
  return operand;
}

// One row: 32 values of up to 64 bits; a predicate is the low 32 bits of the first.
using Row = std::array<std::uint64_t, kLanes>;

// The rows of an instruction in memory, and its execution.
class Warp {
 public:
  static constexpr std::uint32_t kRowBytes = 512;

  explicit Warp(int rows) : memory_(static_cast<std::size_t>(rows) * kRowBytes) {}

  static RegisterRow row(int index) { return RegisterRow{static_cast<std::uint32_t>(index) * kRowBytes}; }

  void set(int row, ptx::Type type, const Row& values) {
    std::byte* at = memory_.data() + static_cast<std::size_t>(row) * kRowBytes;
    if (type == ptx::Type::pred) {
      Mask mask = 0;
      for (std::size_t i = 0; i < kLanes; ++i) mask |= static_cast<Mask>(values[i] & 1U) << i;
      std::memcpy(at, &mask, sizeof(mask));
      return;
    }
    const auto bytes = static_cast<std::size_t>(ptx::bytes(type));
    for (std::size_t i = 0; i < kLanes; ++i) std::memcpy(at + i * bytes, &values[i], bytes);
  }

  [[nodiscard]] Row get(int row, ptx::Type type) const {
    const std::byte* at = memory_.data() + static_cast<std::size_t>(row) * kRowBytes;
    Row values{};
    if (type == ptx::Type::pred) {
      Mask mask = 0;
      std::memcpy(&mask, at, sizeof(mask));
      for (std::size_t i = 0; i < kLanes; ++i) values[i] = (mask >> i) & 1U;
      return values;
    }
    const auto bytes = static_cast<std::size_t>(ptx::bytes(type));
    for (std::size_t i = 0; i < kLanes; ++i) std::memcpy(&values[i], at + i * bytes, bytes);
    return values;
  }

  void run(LaneOp op, const Operands& operands, Mask active = kAllLanes) {
    op(operands, Frame{memory_.data(), memory_.data(), active});
  }

 private:
  std::vector<std::byte> memory_;
};

}  // namespace wm::exec::test
