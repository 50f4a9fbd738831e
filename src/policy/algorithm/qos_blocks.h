// Blocks of kernels with and without goals on SMs that they share: the QoS paper's static resource management (ISCA
// 2017, section 3.6).
#pragma once

#include <cstdint>
#include <vector>

#include "policy/machine.h"

namespace wm::policy {

class QosBlocks {
 public:
  // "Symmetric TB allocation": QoS kernels on every SM, each other kernel on its part of the SMs; within an SM an
  // equal number of threads for each resident kernel.
  void allocate(Machine& gpu);

  // For a client that continues with another function: it keeps its threads, in blocks of another size.
  void keep(Machine& gpu) const;

  // "Run-time adjustment", at the end of an epoch of this length: a QoS kernel behind its goal that uses all its warps
  // gets one block more on an SM, from free resources or from a victim. Not if it has spent its quota,
  // since then the quota and not a lack of warps limits it; nor while blocks are still leaving.
  void adjust(Machine& gpu, Cycles epoch);

 private:
  void set(Machine& gpu, SmId sm, const Kernel& k, std::uint32_t blocks);
  static bool take_what_is_above(Machine& gpu, const Sm& sm, const Kernel& k);
  bool make_room(Machine& gpu, const Sm& sm, const Kernel& k, Cycles epoch, std::vector<std::uint32_t>& lost);

  std::vector<std::vector<std::uint32_t>> threads_;  // threads that a kernel may have, by SM and kernel
};

}  // namespace wm::policy
