// Which registers and branches of a kernel have the same value in all threads of a block.
#pragma once

#include <vector>

#include "ptx/analysis.h"

namespace wm::rewrite {

class Uniformity {
 public:
  Uniformity(const ptx::Function& function, const ptx::ControlFlow& flow);

  // Threads of a block may differ in whether they execute the guarded instruction.
  [[nodiscard]] bool guard_varies(const ptx::Instruction& instruction) const {
    return instruction.guard.present && varies_[instruction.guard.reg];
  }
  // The blocks that only some threads may reach after a branch, until all of them meet again.
  [[nodiscard]] std::vector<std::uint32_t> divergent_blocks(std::uint32_t branching_block) const;

 private:
  bool pass();
  [[nodiscard]] bool result_varies(const ptx::Instruction& instruction) const;

  const ptx::Function& function_;
  const ptx::ControlFlow& flow_;
  std::vector<bool> varies_;     // by register
  std::vector<bool> divergent_;  // by basic block: some threads may not execute it
};

}  // namespace wm::rewrite
