// An observer of a run: it is told when blocks start and leave, and may read the machine after every quantum.
//
// A run with an observer has the same results bit by bit. A machine without an observer only tests a pointer for each
// block and quantum.
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
  preempted,  // its context has been saved; it will resume
  dropped,    // its kernel faulted or reached its limit
  running     // the run ended before the block
};

class Observer {
 public:
  virtual ~Observer() = default;
  // The block occupies the SM from now on. A resumed block first waits for its context.
  virtual void began(const SeenBlock& block, std::uint64_t at, bool resumed) = 0;
  // The block has left the SM.
  virtual void left(const SeenBlock& block, std::uint64_t at, Left how) = 0;
  // Before the first quantum and after each, when the policy has acted and blocks have been placed.
  virtual void quantum(const CycleMachine& machine) = 0;
};

}  // namespace wm::sim
