// A decoded kernel with its timing: for every operation the unit it occupies, the time, and the registers it reads and
// writes.
//
// The hardware does not issue PTX. An instruction for which the vendor's assembler emits no code (a parameter read
// from the constant bank, a move, an address conversion) is `folded`: executed with its neighbour, at no cost. For one
// that it expands (a division), `issue_slots` is the number of issue slots. The table is in timed_program.cc.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/program.h"
#include "gpu/gpu_config.h"

namespace wm::sim {

enum class TimedKind : std::uint8_t { compute, load, store, atomic, constant, barrier, branch, exit };

// Asynchronous copies: one that copies, one that closes a group of them, one that waits for groups or for all.
enum class CopyRole : std::uint8_t { none, copy, commit, wait_group, wait_all };

struct BranchTiming {
  std::uint16_t guard_latency = 0;  // cycles until its guard reaches it after other instructions could use that
  bool parts_lanes = false;         // lanes may take it differently, and join behind it
};

struct SharedTiming {
  std::uint8_t weight : 5 = 1;  // how many times its cycles an access takes
  // An atomic that is a loop: instructions of a turn, in which one lane of each word succeeds.
  std::uint8_t turn_slots : 3 = 0;
};

// All properties of an operation that a scheduler needs lie in one line of the host's cache.
struct alignas(64) TimedOp {
  static constexpr std::uint32_t kFew = 4;
  static constexpr std::uint8_t kNotPlain = 0xff;
  static constexpr std::uint32_t kFoldedLine = ~0U;

  gpu::Unit unit = gpu::Unit::integer;
  TimedKind kind = TimedKind::compute;
  bool folded = false;
  bool waits_for_loads = false;  // waits until no load into the frame of a call is in flight; or (copies) for copies
  bool read_only = false;        // a load from memory that is not written while the kernel runs
  bool direct = false;           // issued without folded neighbours; waits only for its operands, and no longer
  bool simple = false;           // issuing it does no more than set the time of `written`
  bool few = false;              // `operands` contains all registers that it reads and writes
  std::uint8_t plain_unit = kNotPlain;  // `unit` of an operation that uses only registers and is issued without changes
  std::uint16_t occupies = 1;           // cycles its unit takes no other warp
  std::uint16_t latency = 1;            // cycles until its result can be used; memory: set by the access
  std::uint16_t next_issue = 1;         // cycles until its warp can issue another one to the same unit
  std::uint32_t line = 0;               // line of the instruction cache
  std::uint32_t issued_line = 0;        // the same, kFoldedLine for a folded operation
  // The first registers that it reads and writes, and the one it writes if there is at most one. Missing operands refer
  // to two dummy registers at the end of a scoreboard row: one that stays 0 and one that is never read.
  std::array<std::uint32_t, kFew> operands{};
  std::uint32_t written = 0;
  std::uint32_t first_register = 0;
  std::uint16_t reads = 0;
  std::uint16_t writes = 0;
  std::uint8_t issue_slots = 1;
  bool adds_up = false;  // atomics: lanes on one word are added up first and do not take turns
  SharedTiming shared;
  CopyRole copies = CopyRole::none;
  std::uint32_t groups = 0;  // groups of copies that may stay in flight
  BranchTiming branch;

  [[nodiscard]] bool is_plain() const { return plain_unit != kNotPlain; }
};

static_assert(sizeof(TimedOp) == 64);

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
// instructions are timed one by one.
TimedProgram time_program(const std::shared_ptr<const exec::Program>& program, const gpu::GpuConfig& config,
                          const ptx::Module* assembled = nullptr);

}  // namespace wm::sim
