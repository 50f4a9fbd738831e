// A kernel and the functions that it calls, as persistent workers need to know them (persistent.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptx/analysis.h"
#include "ptx/ir.h"

namespace wm::rewrite {

// Whether the thread leaves its function.
bool leaves_kernel(const ptx::Instruction& i);

class KernelShape {
 public:
  KernelShape(const ptx::Module& module, std::uint32_t kernel);

  // Why the kernel must run as it is, if so.
  [[nodiscard]] std::optional<std::string> refusal() const;
  // The lowest barrier that nothing of the kernel uses. A block holds all barriers up to the highest that it uses, and
  // an SM of compute capability 9.0 has 64: with barrier 15 no more than four workers fit.
  [[nodiscard]] std::optional<std::uint32_t> free_barrier() const;
  // Whether threads of a block may wait for each other or meet in shared memory. Others can run virtual blocks in turn
  // without waiting between them.
  [[nodiscard]] bool threads_meet() const;

 private:
  using Test = bool (*)(const ptx::Instruction&);
  // Whether `test` holds for the instruction, or for one of a function that it calls.
  [[nodiscard]] bool has(const ptx::Instruction& i, Test test) const;
  // The hardware waits neither at a barrier nor at an instruction of several threads of a warp, such as a shuffle, for
  // threads that have ended; workers' threads never end before the last virtual block. So some threads of a block must
  // not end before an instruction at which others would wait for them, which is one that `waits` holds for.
  [[nodiscard]] bool ends_early(Test waits) const;
  // Behind the block `from`.
  [[nodiscard]] bool follows(const ptx::ControlFlow& flow, std::uint32_t from, Test test) const;
  // A thread may come from the begin of the block `from` to the end of the kernel without such an instruction.
  [[nodiscard]] bool may_end_before(const ptx::ControlFlow& flow, std::uint32_t from, Test test) const;
  // The instructions of all paths from the blocks `open`, as long as `goes_on` holds for them.
  template <typename GoesOn>
  void visit_paths(const ptx::ControlFlow& flow, std::vector<std::uint32_t> open, GoesOn&& goes_on) const;

  const ptx::Module& module_;
  const ptx::Function& kernel_;
  const std::vector<std::uint32_t> reached_;
};

}  // namespace wm::rewrite
