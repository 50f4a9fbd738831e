#include "sim/cycle/sm/balanced_shifts.h"

#include <algorithm>
#include <vector>

namespace wm::sim {
namespace {

using gpu::Unit;

bool ends_block(const TimedOp& op) {
  return op.kind == TimedKind::branch || op.kind == TimedKind::exit || op.kind == TimedKind::barrier;
}

class Balance {
 public:
  Balance(std::span<TimedOp> ops, const exec::Program& program, const gpu::GpuConfig& config)
      : ops_(ops), program_(program), multiply_(config.sm.units[static_cast<std::size_t>(Unit::multiply)]) {}

  void run() {
    const auto count = static_cast<std::uint32_t>(ops_.size());
    std::vector<bool> begins(count + 1, false);
    for (std::uint32_t pc = 0; pc < count; ++pc) {
      if (!ends_block(ops_[pc])) continue;
      begins[pc + 1] = true;
      const std::uint32_t target = program_.code[pc].target;
      if (ops_[pc].kind == TimedKind::branch && target < count) begins[target] = true;
    }
    std::uint32_t begin = 0;
    for (std::uint32_t pc = 1; pc <= count; ++pc) {
      if (pc != count && !begins[pc]) continue;
      balance(begin, pc);
      begin = pc;
    }
  }

 private:
  // A shift of a word whose second operand is no register.
  [[nodiscard]] bool is_shift(std::uint32_t pc) const {
    const TimedOp& op = ops_[pc];
    return op.unit == Unit::integer && !op.folded && op.issue_slots == 1 && op.reads == 1 &&
           program_.info[pc].text == "shl.b32";
  }

  void balance(std::uint32_t begin, std::uint32_t end) {
    std::uint32_t integer = 0;
    std::uint32_t others = 0;
    for (std::uint32_t pc = begin; pc < end; ++pc) {
      const TimedOp& op = ops_[pc];
      if (op.folded || op.kind != TimedKind::compute) continue;
      if (op.unit == Unit::integer) integer += op.occupies;
      if (op.unit == Unit::multiply || op.unit == Unit::fp32) others += op.occupies;
    }
    const std::uint32_t cycles = std::max(1U, 32 / multiply_.lanes);
    for (std::uint32_t pc = begin; pc < end && integer > others; ++pc) {
      if (!is_shift(pc)) continue;
      TimedOp& op = ops_[pc];
      integer -= std::min<std::uint32_t>(integer, op.occupies);
      others += cycles;
      op.unit = Unit::multiply;
      op.occupies = static_cast<std::uint16_t>(cycles);
      op.latency = static_cast<std::uint16_t>(multiply_.latency);
    }
  }

  std::span<TimedOp> ops_;
  const exec::Program& program_;
  const gpu::UnitConfig& multiply_;
};

}  // namespace

void balance_shifts(std::span<TimedOp> ops, const exec::Program& program, const gpu::GpuConfig& config) {
  if (config.sm.has_multiply_unit) Balance(ops, program, config).run();
}

}  // namespace wm::sim
