// Atomics of an SM that are on their way to L2: an access to the same lines must wait until they are complete, since
// the executor has not applied them yet.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "exec/global_port.h"
#include "exec/warp.h"

namespace wm::sim {

class AtomicsInFlight {
 public:
  [[nodiscard]] bool any() const { return count_ != 0; }
  void add(const exec::PendingAtomic& atomic);
  void remove(const exec::PendingAtomic& atomic);
  // Whether the warp's next instruction accesses a line of an atomic in flight. False positives are possible, false
  // negatives are not.
  [[nodiscard]] bool conflicts(exec::Warp& warp);

  // The warp, by slot number, waits for an atomic to complete.
  void wait(std::uint32_t warp) { waiting_.push_back(static_cast<std::uint16_t>(warp)); }
  // Removes and returns the waiting warps.
  std::vector<std::uint16_t> take_waiting() { return std::exchange(waiting_, {}); }

 private:
  void track(const exec::PendingAtomic& atomic, int by);
  [[nodiscard]] std::uint16_t& lanes_of(std::uint64_t address);

  std::uint32_t count_ = 0;
  std::array<std::uint16_t, 256> lanes_{};  // by a hash of the line
  std::vector<std::uint16_t> waiting_;
  exec::Access next_access_;
};

}  // namespace wm::sim
