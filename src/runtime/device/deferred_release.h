// Device memory that clients let go of, given back when the device is at rest.
//
// A driver with memory of its own waits in clReleaseMemObject until everything that runs has ended, and keeps everybody
// else's calls waiting behind it (NVIDIA's 580 on an H200: as long as the longest kernel). So memory is given back
// between kernels, or when more of it is wanted than there is. What was written there is wiped first: the device may
// give it to another client next.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/device/opencl_native.h"

namespace wm::runtime {

class DeferredRelease {
 public:
  // `at_rest`: nothing is on the device. Where it works in the host's memory nothing waits.
  DeferredRelease(const Native& native, std::function<bool()> at_rest);
  ~DeferredRelease();
  DeferredRelease(const DeferredRelease&) = delete;
  DeferredRelease& operator=(const DeferredRelease&) = delete;

  // `gone` is called once it has been given back.
  void release(cl_mem memory, std::uint64_t bytes, std::function<void()> gone);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // All at once, whatever it keeps waiting.
  void now();

 private:
  struct Thing {
    cl_mem memory;
    std::uint64_t bytes;
    std::function<void()> gone;
  };
  void give_back(const Thing& thing);
  void wipe(cl_mem memory);
  void run();

  const Native& native_;
  std::function<bool()> at_rest_;
  cl_command_queue queue_ = nullptr;  // none: memory is the host's
  std::mutex mutex_;
  std::condition_variable there_;
  std::vector<Thing> things_;
  std::atomic<std::uint64_t> bytes_{0};
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wm::runtime
