// Blocks of kernels with and without goals on SMs that they share: the QoS paper's static resource management (ISCA
// 2017, section 3.6).
#pragma once

#include <cstdint>
#include <vector>

#include "policy/machine.h"

namespace wm::policy {

class QosBlocks {
 public:
  // "Symmetric TB allocation": QoS kernels on every SM, the others each on their part of the SMs; within an SM an equal
  // number of threads for each kernel that is there.
  void allocate(Machine& gpu);

  // A client goes on with another function: it keeps the threads it has, in blocks of another size.
  void keep(Machine& gpu) const;

  // "Run-time adjustment", at the end of an epoch of this length: a QoS kernel behind its goal that uses all its warps
  // gets one block more on an SM, from free resources or from a victim. Not where it spent its quota, which held
  // it back and not a lack of warps; nor while blocks are still leaving from the last time.
  void adjust(Machine& gpu, Cycles epoch);

 private:
  void set(Machine& gpu, SmId sm, const Kernel& k, std::uint32_t blocks);
  static bool take_what_is_above(Machine& gpu, const Sm& sm, const Kernel& k);
  bool make_room(Machine& gpu, const Sm& sm, const Kernel& k, Cycles epoch, std::vector<std::uint32_t>& lost);

  std::vector<std::vector<std::uint32_t>> threads_;  // that a kernel may have, by SM and kernel
};

}  // namespace wm::policy
