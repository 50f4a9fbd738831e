// The branches that an assembler leaves: some become predicates, some jumps fall through, and lanes that a branch parts
// are split and joined by instructions of their own.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "ptx/assembled_instruction.h"
#include "ptx/lane_values.h"
#include "ptx/placement.h"

namespace wm::ptx {

class AssembledBranches {
 public:
  AssembledBranches(const Function& function, const ControlFlow& flow, const LaneValues& values,
                    const Placement& placement, std::vector<AssembledInstruction>& out)
      : function_(function), flow_(flow), values_(values), placement_(placement), out_(out) {}

  // Marks branches that part the lanes.
  void find_splits();
  // Folds branches that become predicates, and jumps that fall through: called when all other instructions of short
  // blocks are known to be folded or not.
  void fold();

 private:
  [[nodiscard]] const Instruction& at(std::uint32_t i) const { return function_.body[i]; }
  [[nodiscard]] bool leaves_loop(std::uint32_t i) const;
  [[nodiscard]] bool is_split_before(std::uint32_t i) const;
  [[nodiscard]] bool can_be_predicated(std::uint32_t b, std::uint32_t from, std::uint32_t limit) const;
  [[nodiscard]] bool falls_through(std::uint32_t i) const;
  void convert(std::uint32_t b);
  void fold_jump(std::uint32_t b);

  const Function& function_;
  const ControlFlow& flow_;
  const LaneValues& values_;
  const Placement& placement_;
  std::vector<AssembledInstruction>& out_;
  std::set<std::uint32_t> follows_jump_;  // blocks that lie behind one that jumps to them
};

}  // namespace wm::ptx
