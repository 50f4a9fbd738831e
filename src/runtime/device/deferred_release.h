// Device memory that clients released, given back to the driver while no kernel runs.
//
// A driver with memory of its own waits in its release call until everything that runs has completed, and keeps all
// other calls waiting behind it (NVIDIA's 580 on an H200: as long as the longest kernel). So memory is given back
// between kernels, or when more memory is requested than there is. Its contents are wiped first: the driver may give it
// to another client next.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/device/backend.h"

namespace wm::runtime {

class DeferredRelease {
 public:
  // `idle` returns whether the device has no commands. Nothing is deferred if a release does not wait for kernels.
  DeferredRelease(Backend& backend, std::function<bool()> idle);
  ~DeferredRelease();
  DeferredRelease(const DeferredRelease&) = delete;
  DeferredRelease& operator=(const DeferredRelease&) = delete;

  // `memory` is the last handle; `released` is called when it has been given back.
  void release(MemoryHandle memory, std::uint64_t bytes, std::function<void()> released);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Releases all memory at once, even if running kernels delay it.
  void release_now();

 private:
  struct Pending {
    MemoryHandle memory;
    std::uint64_t bytes;
    std::function<void()> released;
  };
  void give_back(Pending pending);
  void run();

  Backend& backend_;
  const std::function<bool()> idle_;
  QueueHandle queue_;  // none: nothing is deferred
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Pending> pending_;
  std::atomic<std::uint64_t> bytes_{0};
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wm::runtime
