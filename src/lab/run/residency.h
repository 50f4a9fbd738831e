// Summary of the residency of the SMs during a run: occupancy, how SMs were divided, and how many each kernel owned.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/cycle/machine.h"

namespace wm::lab {

// Fractions of the GPU's resources in use, averaged over SMs and time.
struct Held {
  double threads = 0;
  double registers = 0;
  double shared_memory = 0;
  double gated = 0;     // SMs switched off
  double together = 0;  // SMs with blocks of two kernels or more
};

class Residency {
 public:
  // SMs are sampled every kLook cycles; ownership is recorded every kNote.
  static constexpr std::uint64_t kLook = 1000;
  static constexpr std::uint64_t kNote = 10'000;

  // Is called after every quantum.
  void see(const sim::CycleMachine& machine);

  [[nodiscard]] Held held() const;
  // Blocks of each kernel on an SM, in the combination seen most often where kernels share one; empty where none do.
  [[nodiscard]] std::vector<std::uint32_t> partition() const;
  // SMs owned by each kernel, and switched off, every kNote cycles.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& owned() const { return owned_; }
  [[nodiscard]] const std::vector<std::uint32_t>& off() const { return off_; }

 private:
  void look(const sim::CycleMachine& machine);
  void note(const sim::CycleMachine& machine);

  std::uint64_t last_ = 0;  // cycle of the last quantum
  std::uint64_t looked_ = 0;
  std::uint64_t noted_ = 0;
  double threads_ = 0;  // fraction of the GPU's threads, times cycles
  double registers_ = 0;
  double shared_ = 0;
  double gated_ = 0;
  std::uint64_t looks_ = 0;  // SMs sampled
  std::uint64_t together_ = 0;
  std::map<std::vector<std::uint32_t>, std::uint64_t> combinations_;
  std::vector<std::vector<std::uint32_t>> owned_;  // by client, by note
  std::vector<std::uint32_t> off_;
};

}  // namespace wm::lab
