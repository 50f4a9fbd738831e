// Blocks of kernels with and without goals on SMs that they share: the QoS paper's static resource management (ISCA
// 2017, section 3.6).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/algorithm/block_growth.h"
#include "policy/machine.h"

namespace wm::policy {

// A kernel's rate in an epoch, in instructions per cycle.
struct Pace {
  double rate = 0;    // while its quota was not spent
  double needed = 0;  // to spend its quota, with what is left of earlier ones, in the epoch
};

class QosBlocks {
 public:
  // "Symmetric TB allocation": QoS kernels on every SM, each other kernel on its part of the SMs; within an SM an
  // equal number of threads for each resident kernel. The rest of an SM goes to kernels without a goal.
  void allocate(Machine& gpu);

  // For a client that continues with another function: threads are divided equally again, by the new blocks, and each
  // kernel keeps the threads that it has gained since the first division.
  void divide_again(Machine& gpu);

  // "Run-time adjustment", at the end of an epoch: a QoS kernel behind its goal that uses all its warps gets one block
  // more on an SM, from free resources or from a victim. Not where it spent its quota, which held it back and not a
  // lack of warps; not where memory holds up the load/store unit, which more warps would only fill; not after blocks
  // that had no effect (BlockGrowth); nor while blocks are still leaving from the last time.
  //
  // The margin that lets a QoS kernel lose a block to another one also lets it lose one to a kernel without a goal,
  // unless the latter's quota was spent on that SM: then its quota held it back, and a block would not help. A QoS
  // kernel has the margin if it would still have spent its quota with a block less in two epochs in a row; one that has
  // a quota left is not ahead, whatever its rate: what rolled over makes up for epochs in which it was behind.
  //   - Blocks that the QoS kernel took return to a kernel that lost some, or whose next launch finds its part of the
  //     SM taken.
  //   - A QoS kernel that has met its goal so far gives up blocks that it had from the first, "just enough resources"
  //     being left, for a kernel that uses all its warps there and whose loads and stores memory does not hold up.
  // `paces` by kernel.
  void adjust(Machine& gpu, std::span<const Pace> paces);

 private:
  using Counts = std::vector<std::uint32_t>;

  void set(Machine& gpu, SmId sm, const Kernel& k, std::uint32_t blocks);
  bool grow(Machine& gpu, const Sm& sm, const Kernel& k, Counts& lost);
  bool give_up(Machine& gpu, const Sm& sm, std::span<const Pace> paces, Counts& lost);
  static void enforce(Machine& gpu);
  static bool take_what_is_above(Machine& gpu, const Sm& sm, const Kernel& k);
  bool make_room(Machine& gpu, const Sm& sm, const Kernel& k, Counts& lost);

  std::vector<Counts> threads_;      // threads that a kernel may have, by SM and kernel
  std::vector<Counts> first_;        // the same as it was allocated
  std::uint32_t start_ = 0;          // the SM that is considered first in the next epoch
  std::vector<BlockGrowth> growth_;  // by kernel
};

}  // namespace wm::policy
