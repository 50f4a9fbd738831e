// The machine instructions that an assembler makes of one PTX instruction.
#pragma once

#include <cstdint>

namespace wm::ptx {

struct AssembledInstruction {
  bool folded = false;            // no instruction of its own
  std::uint8_t added = 0;         // instructions beside its own
  bool parts_lanes = false;       // a branch that lanes may take differently: the assembler adds a split and a join
  bool is_split_before = false;   // the same, with the split and the join of an earlier branch or outside of a loop
  bool is_one_word = false;       // a 64-bit operation that changes only one half
  std::uint8_t joined_words = 1;  // a load that has become a vector of so many words
  bool is_increment = false;      // an atomic that adds a constant: lanes on one word are added up first
  bool is_combined = false;       // an atomic that one lane executes for all lanes of the warp
  bool is_unused = false;         // an atomic whose result no instruction reads
  bool has_reciprocal = false;    // a division of words whose divisor's reciprocal was computed before
  bool has_range = false;         // a sine or cosine whose argument another one has scaled
  bool is_wide_product = false;   // a 64-bit sum that one wide multiply-add computes with the product before it
};

}  // namespace wm::ptx
