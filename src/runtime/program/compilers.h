// Limits how many compilations run at once to the number of processors. A compilation whose client has gone is not
// started.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/protocol/status.h"

namespace wm::runtime {

class Compilers {
 public:
  // Waits for a free processor and returns the result of `compile`; nothing if `cancelled` by then.
  template <typename Compile, typename Cancelled>
  std::optional<Status> run(Cancelled cancelled, Compile compile) {
    {
      std::unique_lock lock(mutex_);
      freed_.wait(lock, [this] { return idle_ != 0; });
      --idle_;
    }
    std::optional<Status> status;
    if (!cancelled()) status = compile();
    {
      const std::lock_guard lock(mutex_);
      ++idle_;
    }
    freed_.notify_one();
    return status;
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  unsigned idle_ = std::max(std::thread::hardware_concurrency(), 2U);
};

}  // namespace wm::runtime
