// The counters of one SM, by kernel.
//
// Thread instructions and stalls are counted as they happen. Counters that follow from the number of executions
// of each operation are tallied by operation and added up when the counters are read.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/cycle/memory/partition.h"
#include "sim/cycle/sm/counters.h"
#include "sim/cycle/sm/timed_program.h"

namespace wm::sim {

class KernelCounters {
 public:
  // The kernel executes `program` from now on.
  void set_program(std::uint8_t kernel, const TimedProgram& program);

  // A warp of the kernel executed operation `pc` with that many lanes. `issued`: the operation took an issue slot.
  void count(std::uint8_t kernel, std::uint32_t pc, std::uint32_t lanes, bool issued) {
    counters_[kernel].thread_instructions += lanes;
    tallies_[kernel].executed[2 * std::size_t{pc} + (issued ? 1 : 0)] += tally(lanes);
  }
  // The same for a run of issued operations: each adds tally(lanes) at [2 * pc + 1], and the caller adds their lanes to
  // thread_instructions.
  [[nodiscard]] std::uint64_t* tallies(std::uint8_t kernel) { return tallies_[kernel].executed.data(); }
  static constexpr std::uint64_t tally(std::uint32_t lanes) { return std::uint64_t{1} << 32 | lanes; }

  // All counters of the kernel, up to date but for stalls.
  [[nodiscard]] SmCounters& totals(std::uint8_t kernel) {
    add_up(kernel);
    return counters_[kernel];
  }
  // The counters; those that are tallied may be out of date.
  [[nodiscard]] SmCounters& operator[](std::uint8_t kernel) { return counters_[kernel]; }
  [[nodiscard]] const SmCounters& operator[](std::uint8_t kernel) const { return counters_[kernel]; }
  [[nodiscard]] SmCounters* data() { return counters_.data(); }

  // Adds up tallies that could overflow. To be called at least every kMaxCycles cycles.
  void prevent_overflow(std::uint64_t now) {
    for (std::uint8_t kernel = 0; kernel < kMaxKernels; ++kernel)
      if (now - tallies_[kernel].added_up_at >= kMaxCycles) {
        add_up(kernel);
        tallies_[kernel].added_up_at = now;
      }
  }

 private:
  // Executions of one operation within so many cycles, and their lanes, each fit 32 bits.
  static constexpr std::uint64_t kMaxCycles = std::uint64_t{1} << 22;

  struct Tally {
    const TimedProgram* program = nullptr;
    // [2 pc]: without an issue slot, [2 pc + 1]: issued. The upper half counts executions, the lower one lanes.
    std::vector<std::uint64_t> executed;
    std::uint64_t added_up_at = 0;  // cycle
  };

  void add_up(std::uint8_t kernel);

  std::array<SmCounters, kMaxKernels> counters_{};
  std::array<Tally, kMaxKernels> tallies_;
};

}  // namespace wm::sim
