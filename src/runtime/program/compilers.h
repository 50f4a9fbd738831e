// The device's compiler, which many clients want at once: no more of them run than there are processors for, and what a
// client that has gone asked for is not compiled any more.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/device/opencl_native.h"

namespace wm::runtime {

class Compilers {
 public:
  // What `compile` returns, when its turn has come; nothing where `unwanted` by then.
  template <typename Compile, typename Unwanted>
  std::optional<cl_int> run(Unwanted unwanted, Compile compile) {
    {
      std::unique_lock lock(mutex_);
      free_.wait(lock, [this] { return idle_ != 0; });
      --idle_;
    }
    std::optional<cl_int> status;
    if (!unwanted()) status = compile();
    {
      const std::lock_guard lock(mutex_);
      ++idle_;
    }
    free_.notify_one();
    return status;
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  unsigned idle_ = std::max(std::thread::hardware_concurrency(), 2U);
};

}  // namespace wm::runtime
