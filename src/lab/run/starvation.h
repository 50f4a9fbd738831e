// The part of a run in which each kernel starved: tenths of the run with less than 5% of its isolated rate.
//
// A mean rate hides a kernel that is served first and gets nothing later.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cycle/machine.h"

namespace wm::lab {

class Starvation {
 public:
  // `cycles` is the length of the run; 0: not known, and nothing is measured.
  explicit Starvation(std::uint64_t cycles) : cycles_(cycles) {}

  // Once per quantum, and at the end of the run.
  void look(const sim::CycleMachine& machine);
  // From 0 to 1, over the tenths that lie between the kernel's arrival and its end.
  [[nodiscard]] double part(std::uint32_t client, std::uint64_t arrival, double isolated_ipc) const;

 private:
  struct Sample {
    std::uint64_t at = 0;
    std::vector<std::uint64_t> instructions;  // by client, of threads
    std::vector<bool> finished;               // by client
  };
  std::uint64_t cycles_;
  std::vector<Sample> samples_;
};

}  // namespace wm::lab
