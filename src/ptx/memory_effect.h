// The effect of an instruction on memory, as far as reordering must respect it.
#pragma once

#include "ptx/ir.h"

namespace wm::ptx {

struct MemoryEffect {
  bool reads = false;
  bool writes = false;
  // A fence: no access to memory that can change, and no other fence, may be reordered across it. Volatile, relaxed,
  // acquire and release accesses, atomics, barriers and exchanges between lanes are fences.
  bool fence = false;
  // The memory read cannot change while the kernel runs, so that fences do not order the access.
  bool constant = false;
  Space space = Space::generic;  // space of the access; generic where the instruction names none
};

[[nodiscard]] MemoryEffect memory_effect(const Instruction& instruction);

// Whether accesses to the two spaces can touch the same bytes: a generic address may lie in any space.
[[nodiscard]] bool may_overlap(Space a, Space b);

// Whether the instruction reads a clock: no other instruction may be reordered across it.
[[nodiscard]] bool reads_clock(const Instruction& instruction);
// Whether the instruction ends a basic block (a branch, a return, a trap): nothing may be moved behind it.
[[nodiscard]] bool ends_block(const Instruction& instruction);
// Whether the instruction writes, or reads, the condition code of extended-precision arithmetic (.cc).
[[nodiscard]] bool writes_carry(const Instruction& instruction);
[[nodiscard]] bool reads_carry(const Instruction& instruction);

}  // namespace wm::ptx
