// An observer of a run: it is told what happens to blocks, and may look at the machine after every quantum.
//
// Watching changes nothing: a run with an observer gives the same bits. A machine without one tests a pointer a block
// and a quantum, and spends nothing else on it.
#pragma once

#include <cstdint>

namespace wm::sim {

class CycleMachine;

// A block as it is seen from outside.
struct SeenBlock {
  std::uint32_t sm = 0;
  std::uint32_t client = 0;
  std::uint64_t launch = 0;             // index among its client's launches, from 0
  std::uint64_t number = 0;             // in its grid
  std::uint32_t max_blocks_per_sm = 1;  // blocks of its kernel that an empty SM holds
};

enum class Left : std::uint8_t {
  done,
  preempted,  // its context has been saved; it comes again
  dropped,    // its kernel faulted or reached its limit
  running     // the run ended before it
};

class Observer {
 public:
  virtual ~Observer() = default;
  // The block takes its place on the SM. A resumed one first waits for its context.
  virtual void began(const SeenBlock& block, std::uint64_t at, bool resumed) = 0;
  // Its place is free again.
  virtual void left(const SeenBlock& block, std::uint64_t at, Left how) = 0;
  // Before the first quantum and after each, when the policy has acted and blocks have been placed.
  virtual void quantum(const CycleMachine& machine) = 0;
};

}  // namespace wm::sim
