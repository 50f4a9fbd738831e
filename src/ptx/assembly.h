// The machine instructions that an optimising assembler makes of each PTX instruction, as far as they can be seen in
// one function: which ones become part of a neighbour, which branches become predicates, which loads are joined.
//
// The rules follow the machine code that ptxas 13 makes for sm_90. Costs of single instructions that need several (a
// division) are not part of this.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.h"

namespace wm::ptx {

struct AssembledInstruction {
  bool folded = false;            // no instruction of its own
  std::uint8_t added = 0;         // instructions beside its own
  bool parts_lanes = false;       // a branch that lanes may take differently: the assembler adds a split and a join
  std::uint8_t joined_words = 1;  // a load that has become a vector of so many words
  bool is_increment = false;      // an atomic that adds a constant: lanes on one word are added up first
  bool is_unused = false;         // an atomic whose result no instruction reads
  bool is_wide_product = false;   // a 64-bit sum that one wide multiply-add computes with the product before it
};

// Whether the assembler's code for it branches to a subroutine for rare operands: nothing is moved across it.
[[nodiscard]] bool calls_subroutine(const Instruction& instruction);

// By index into the function's body.
std::vector<AssembledInstruction> assemble(const Function& function);

}  // namespace wm::ptx
