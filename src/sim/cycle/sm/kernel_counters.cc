#include "sim/cycle/sm/kernel_counters.h"

namespace wm::sim {

void KernelCounters::set_program(std::uint8_t kernel, const TimedProgram& program) {
  Tally& tally = tallies_[kernel];
  if (tally.program == &program) return;
  add_up(kernel);
  tally.program = &program;
  tally.executed.assign(2 * program.ops.size(), 0);
}

void KernelCounters::add_up(std::uint8_t kernel) {
  Tally& tally = tallies_[kernel];
  SmCounters& c = counters_[kernel];
  for (std::size_t i = 0; i < tally.executed.size(); ++i) {
    if (tally.executed[i] == 0) continue;
    const std::uint64_t times = tally.executed[i] >> 32;
    const std::uint64_t lanes = tally.executed[i] & 0xffffffffU;
    tally.executed[i] = 0;
    const TimedOp& op = tally.program->ops[i / 2];
    const auto unit = static_cast<std::size_t>(op.unit);
    c.warp_instructions += times;
    c.unit_lanes[unit] += lanes * op.issue_slots;
    c.register_lanes += lanes * (std::uint32_t{op.reads} + op.writes);
    if (i % 2 == 0) continue;
    c.issued += times * op.issue_slots;
    c.unit_cycles[unit] += times * op.occupies;
  }
}

}  // namespace wm::sim
