// The cost of sharing: how long a client's launches took, and how long they would have taken isolated.
//
// The isolated time of a launch is measured where its client was the only one with kernels while it ran, and remembered
// by kernel and number of groups. A launch whose isolated time was never measured is estimated from the part of the
// device that it used. Guarded by the scheduler's lock.
#pragma once

#include <cstdint>

#include "runtime/schedule/active_kernels.h"

namespace wm::runtime {

class SharingCost {
 public:
  explicit SharingCost(const ActiveKernels& kernels) : kernels_(kernels) {}

  // The launch has completed. `used`: its device time; `estimate`: its isolated time, from the part that it used.
  void note_completed(Command& command, std::uint64_t now, double used, double estimate);

 private:
  const ActiveKernels& kernels_;
};

}  // namespace wm::runtime
