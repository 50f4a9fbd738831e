// The words of launches of PTX workers (rewrite/ptx/persistent.h): a PersistentQueue in device memory, and a word of
// the process that the last worker writes.
//
// Words are handed out from blocks of many. A block is zeroed on the device when none of its words is used any more.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/device/cuda/host_memory.h"
#include "runtime/device/worker_tables.h"

namespace wm::runtime::cuda {

struct CudaLaunchCounters final : LaunchCounters {
  Address queue = 0;
  std::atomic<std::uint32_t>* complete = nullptr;  // pinned: the device has the same address for it
  [[nodiscard]] bool is_complete() const override { return complete->load(std::memory_order_acquire) != 0; }
};

class LaunchCounterPool {
 public:
  // Blocks are zeroed on the stream.
  LaunchCounterPool(Device& device, HostMemory& host, Stream stream);
  ~LaunchCounterPool();
  LaunchCounterPool(const LaunchCounterPool&) = delete;
  LaunchCounterPool& operator=(const LaunchCounterPool&) = delete;

  // Null: the driver has no memory for it.
  std::shared_ptr<CudaLaunchCounters> take();

 private:
  struct Block;

  Block* usable_block();
  std::unique_ptr<Block> make_block();
  void zero(Block& block);
  void give_back(Block& block);

  Device& device_;
  HostMemory& host_;
  const Stream stream_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
  Block* current_ = nullptr;
};

}  // namespace wm::runtime::cuda
