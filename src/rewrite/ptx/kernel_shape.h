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
  [[nodiscard]] bool has_barrier(const ptx::Instruction& i) const;
  // The hardware does not wait at a barrier for threads that have ended; workers' threads never end before the last
  // virtual block. So some threads of a block must not end before a barrier that others reach.
  [[nodiscard]] std::optional<std::string> early_exit() const;
  [[nodiscard]] bool barrier_follows(const ptx::ControlFlow& flow, std::uint32_t from) const;

  const ptx::Module& module_;
  const ptx::Function& kernel_;
  const std::vector<std::uint32_t> reached_;
};

}  // namespace wm::rewrite
