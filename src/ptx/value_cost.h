// The 32-bit registers that each PTX register costs a thread after an optimising assembler has run.
//
// PTX names a register for every intermediate value; ptxas keeps far fewer in the register file. Three facts decide:
//  - Some values need no register at all: constants, parameters and launch dimensions come from the constant bank, and
//    integer arithmetic on what all lanes share goes to the uniform registers, which are counted apart.
//  - Some are cheaper to compute again than to keep: an index widened or scaled for an address, an address plus a
//    constant. Reading such a value is reading the one it is made from.
//  - A 64-bit value of which only the low half is ever wanted (an address in shared or local memory) takes one
//  register.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.h"

namespace wm::ptx {

class ValueCost {
 public:
  explicit ValueCost(const Function& function);

  // 32-bit registers that hold it: 0 for predicates and for what needs none.
  [[nodiscard]] std::uint32_t words(std::uint32_t reg) const { return words_[reg]; }
  // The register that must be live where `reg` is read: itself, or the register it is computed from.
  [[nodiscard]] std::uint32_t root(std::uint32_t reg) const { return root_[reg]; }
  // Whether the instruction at `index` only computes a value that needs no register or is recomputed where it is read.
  [[nodiscard]] bool vanishes(std::uint32_t index) const { return vanishes_[index]; }

 private:
  void find_definitions();
  void find_free_values();
  void find_recomputed_values();
  void find_low_halves();
  [[nodiscard]] bool is_free(const Operand& operand) const;
  [[nodiscard]] bool is_free_now(const Instruction& instruction) const;

  const Function& function_;
  std::vector<std::uint32_t> definition_;  // the one instruction that writes it; kMany, kNone
  std::vector<bool> free_;
  std::vector<std::uint32_t> root_;
  std::vector<std::uint32_t> words_;
  std::vector<bool> vanishes_;
};

}  // namespace wm::ptx
