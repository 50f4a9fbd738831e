// How many blocks of a kernel may share an SM, enforced by launching it with more dynamic shared memory than it uses.
//
// A launch of so few blocks that every SM has room for its part of them under the limit is not padded: blocks go to the
// SMs with most room.
//
// A limit is worked out once for a kernel, a block size and an amount of shared memory, with the driver's own occupancy
// calculator. A kernel keeps its shared memory where the limit cannot be reached: it runs in clusters, or no amount of
// padding that the device allows has the effect.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "runtime/client/cuda/interface/types.h"

namespace wm::forward {

struct BlockLimit {
  std::uint32_t blocks_per_sm = 0;      // 0: no limit
  std::uint32_t occupancy_percent = 0;  // 0: no limit
};

struct LimitedLaunch {
  unsigned shared_bytes = 0;     // dynamic shared memory to launch with
  bool is_limited = false;       // at most as many blocks per SM as the limit says
  std::uint64_t small_grid = 0;  // a grid of so many blocks keeps the limit without padding
};

class BlockLimits {
 public:
  static BlockLimits& get();

  struct Launch {
    CUfunction function;
    std::uint64_t blocks;
    unsigned threads;  // in a block
    unsigned shared_bytes;
  };
  [[nodiscard]] LimitedLaunch plan(const Launch& launch, BlockLimit limit);
  // The driver did not take the padded launch: the kernel is not padded again.
  void refused(CUfunction function);
  // The same division of an SM's memory for all kernels that share it: an SM changes it only when it is empty. Kernels
  // for which the program has chosen a division keep it.
  void divide_alike(CUfunction function);
  // Before a launch without a limit, or on SMs of the program's own: the kernel's division is the driver's choice
  // again.
  void restore_division(CUfunction function) {
    if (has_divided_.load(std::memory_order_relaxed)) restore(function);
  }

 private:
  using Key = std::tuple<CUfunction, unsigned, unsigned, std::uint32_t, std::uint32_t, CUdevice>;
  std::mutex mutex_;
  std::map<Key, LimitedLaunch> plans_;
  std::set<CUfunction> refused_;
  std::map<CUfunction, bool> divided_;  // whether its division was changed here
  std::atomic<bool> has_divided_{false};
  unsigned generation_ = 0;

  void divide(CUfunction function);
  void restore(CUfunction function);
  // Forgets what is known of handles that may belong to other kernels by now.
  void forget_old_handles();
};

}  // namespace wm::forward
