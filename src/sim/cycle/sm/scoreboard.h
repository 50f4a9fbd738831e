// The times at which the registers of an SM's warps can be used.
//
// Each warp has a row of times, one for each register (TimedProgram::scoreboard_size). Times are 32 bits wide and count
// from an epoch that follows the clock, so that a row takes half of the host's cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/cycle/sm/timed_program.h"

namespace wm::sim {

class Scoreboard {
 public:
  using Time = std::uint32_t;
  static constexpr Time kUnknown = ~Time{0};                    // a load that writes the register is in flight
  static constexpr std::uint64_t kPending = ~std::uint64_t{0};  // the same as a cycle

  explicit Scoreboard(std::uint32_t warps) : rows_(warps) {}

  // Makes all registers of the warp usable and returns its row, which stays in place until the next call for the warp.
  Time* reset(std::uint32_t warp, std::uint32_t size) {
    rows_[warp].assign(size, 0);
    return rows_[warp].data();
  }

  // Begins another epoch where the current one has become long. To be called at least every 2^31 cycles.
  void follow(std::uint64_t now) {
    if (now - epoch_ >= kEpoch) begin_epoch(now);
  }
  // Cycles to times and back. `known`: for cycles that are not kPending.
  [[nodiscard]] Time time(std::uint64_t cycle) const { return cycle == kPending ? kUnknown : known(cycle); }
  [[nodiscard]] Time known(std::uint64_t cycle) const { return static_cast<Time>(cycle - epoch_); }
  [[nodiscard]] std::uint64_t cycle(Time time) const { return epoch_ + time; }

  // The time at which all registers that `op` reads and writes can be used. `registers`: base of op.first_register.
  [[nodiscard]] static Time last_operand(const Time* row, const std::uint32_t* registers, const TimedOp& op) {
    Time latest = 0;
    for (const std::uint32_t operand : op.operands) latest = std::max(latest, row[operand]);
    if (op.few) return latest;
    const std::uint32_t count = std::uint32_t{op.reads} + op.writes;
    const std::uint32_t* operands = registers + op.first_register;
    for (std::uint32_t i = TimedOp::kFew; i < count; ++i) latest = std::max(latest, row[operands[i]]);
    return latest;
  }
  // The registers that `op` writes can be used from then on.
  static void set_written(Time* row, const std::uint32_t* registers, const TimedOp& op, Time usable) {
    const std::uint32_t* written = registers + op.first_register + op.reads;
    for (std::uint32_t i = 0; i < op.writes; ++i) row[written[i]] = usable;
  }

 private:
  static constexpr std::uint64_t kEpoch = std::uint64_t{1} << 31;

  void begin_epoch(std::uint64_t now);

  std::vector<std::vector<Time>> rows_;  // by warp
  std::uint64_t epoch_ = 0;
};

}  // namespace wm::sim
