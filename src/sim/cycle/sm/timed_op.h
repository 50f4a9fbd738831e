// The timing of one operation of a decoded kernel: the unit that it occupies, the time, and the registers that it reads
// and writes.
#pragma once

#include <array>
#include <cstdint>

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

}  // namespace wm::sim
