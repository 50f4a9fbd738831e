// A decoded kernel with its timing: for every operation the unit it occupies, the time, and the registers it reads and
// writes.
//
// The hardware does not issue PTX. An instruction for which the vendor's assembler emits no code (a parameter read
// from the constant bank, a move, an address conversion) is `folded`: executed with its neighbour, at no cost. For one
// that it expands (a division), `issue_slots` is the number of issue slots. The table is in timed_program.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/program.h"
#include "gpu/gpu_config.h"
#include "sim/cycle/sm/timed_op.h"

namespace wm::sim {

struct TimedProgram {
  std::shared_ptr<const exec::Program> program;
  std::vector<TimedOp> ops;  // by pc
  std::uint32_t register_count = 0;

  // The registers of a warp, and the two dummy registers of missing operands.
  [[nodiscard]] std::uint32_t scoreboard_size() const { return register_count + 2; }
  [[nodiscard]] std::span<const std::uint32_t> operands(const TimedOp& op) const {
    return {program->registers.data() + op.first_register, std::size_t{op.reads} + op.writes};
  }
  [[nodiscard]] std::span<const std::uint32_t> writes(const TimedOp& op) const {
    return {program->registers.data() + op.first_register + op.reads, op.writes};
  }
};

// `assembled`: the module that was decoded, from which an assembled GPU's machine instructions are derived; none: PTX
// instructions are timed one by one. `fetches_textures`: its read-only loads stand for texture fetches.
TimedProgram time_program(const std::shared_ptr<const exec::Program>& program, const gpu::GpuConfig& config,
                          const ptx::Module* assembled = nullptr, bool fetches_textures = false);

}  // namespace wm::sim
