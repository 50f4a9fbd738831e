// Properties of single instructions that an assembler's rules (assembly.h) ask for.
#pragma once

#include "ptx/ir.h"

namespace wm::ptx {

[[nodiscard]] bool is_word_type(Type type);
[[nodiscard]] bool is_wide_type(Type type);
[[nodiscard]] bool is_word_sum(const Instruction& i);
[[nodiscard]] bool is_half_type(Type type);
[[nodiscard]] bool is_ordering(const Instruction& i);  // a comparison but for equality
// The instructions that extend operands of a half-word's arithmetic, which is done in words, or negate one.
[[nodiscard]] std::uint32_t half_extensions(const Instruction& i);
// Whether the upper half of a half-word's register is not zero afterwards, and whether it has to be before.
[[nodiscard]] bool leaves_high_half(const Instruction& i);
[[nodiscard]] bool needs_high_half(const Instruction& i);
[[nodiscard]] bool is_logic(const Instruction& i);  // on words and half-words
[[nodiscard]] bool is_word_extreme(const Instruction& i);
[[nodiscard]] bool is_predicate_logic(const Instruction& i);
[[nodiscard]] bool shifts_by_constant(const Instruction& i, Type type);
// A constant shift to the right of an unsigned word: part of the sum that reads it.
[[nodiscard]] bool takes_high_part(const Instruction& i);
[[nodiscard]] bool tests_zero(const Instruction& i);
[[nodiscard]] bool is_word_product(const Instruction& i, Suffix part);
// Zero-extensions and truncations are renamings.
[[nodiscard]] bool is_renaming(const Instruction& i);
// Operands of double precision whose two halves are constants to be loaded; others are part of the instruction.
[[nodiscard]] std::uint32_t long_constants(const Instruction& i);
[[nodiscard]] bool changes_one_word(const Instruction& i);
[[nodiscard]] bool is_atomic_sum(const Instruction& i);
[[nodiscard]] bool adds_constant(const Instruction& i);
// Whether the register is the address, and nothing else, of an access to shared memory.
[[nodiscard]] bool addresses_shared(const Instruction& i, std::uint32_t r);
// Instructions that are too long to be predicated.
[[nodiscard]] bool is_long(const Instruction& i);
// The machine instructions of integer arithmetic: 64 bits are two registers.
[[nodiscard]] std::uint32_t integer_instructions(const Instruction& i);
// Whether the assembler's code for it branches to a subroutine for rare operands: nothing is moved across it.
[[nodiscard]] bool calls_subroutine(const Instruction& i);

}  // namespace wm::ptx
