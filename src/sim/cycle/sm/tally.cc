// What follows from how often each operation was executed.
#include "sim/cycle/sm/sm.h"

namespace wm::sim {

void Sm::begin_tally(std::uint8_t slot, const TimedProgram& program) {
  Tally& tally = tallies_[slot];
  if (tally.program == &program) return;
  count_tally(slot);
  tally.program = &program;
  tally.executed.assign(2 * program.ops.size(), 0);
}

void Sm::count_tally(std::uint8_t slot) {
  Tally& tally = tallies_[slot];
  SmCounters& c = counters_[slot];
  for (std::size_t i = 0; i < tally.executed.size(); ++i) {
    if (tally.executed[i] == 0) continue;
    const std::uint64_t times = tally.executed[i] >> 32;
    const std::uint64_t lanes = tally.executed[i] & 0xffffffffU;
    tally.executed[i] = 0;
    const TimedOp& op = tally.program->ops[i / 2];
    const auto unit = static_cast<std::size_t>(op.unit);
    c.warp_instructions += times;
    c.unit_lanes[unit] += lanes * op.slots;
    c.register_lanes += lanes * (std::uint32_t{op.reads} + op.writes);
    if (i % 2 == 0) continue;
    c.issued += times * op.slots;
    c.unit_cycles[unit] += times * op.occupies;
  }
}

}  // namespace wm::sim
