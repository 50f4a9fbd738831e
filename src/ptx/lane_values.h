// Facts about the values of a function's registers: their definitions and uses, whether lanes may differ in them, and
// which of their low bits are known to be zero.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.h"

namespace wm::ptx {

class LaneValues {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  explicit LaneValues(const Function& function);

  // The one instruction that writes it; kNone: none or several.
  [[nodiscard]] std::uint32_t definition(std::uint32_t reg) const {
    return writers_[reg].size() == 1 ? writers_[reg][0] : kNone;
  }
  [[nodiscard]] std::size_t uses(std::uint32_t reg) const { return readers_[reg].size(); }
  // Instructions that read it, once for every operand.
  [[nodiscard]] const std::vector<std::uint32_t>& readers(std::uint32_t reg) const { return readers_[reg]; }
  // False: every lane of a warp has the same value, as far as it comes from parameters, constants and block numbers.
  [[nodiscard]] bool differs(std::uint32_t reg) const { return differs_[reg]; }
  // Low bits of an address or index that are zero; addresses of variables are taken as aligned to 16 bytes.
  [[nodiscard]] std::uint32_t low_zeros(std::uint32_t reg) const { return low_zeros(reg, 0); }

 private:
  [[nodiscard]] std::uint32_t low_zeros(std::uint32_t reg, std::uint32_t depth) const;
  [[nodiscard]] std::uint32_t low_zeros(const Operand& operand, std::uint32_t depth) const;
  [[nodiscard]] std::uint32_t defined_low_zeros(std::uint32_t reg, std::uint32_t depth) const;
  [[nodiscard]] bool makes_difference(const Instruction& instruction) const;
  void find_differences();

  const Function& function_;
  std::vector<std::vector<std::uint32_t>> writers_;
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<bool> differs_;
};

}  // namespace wm::ptx
