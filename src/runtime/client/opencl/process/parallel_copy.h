// Copies large blocks with two threads: one core cannot use the full memory bandwidth.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace wm::runtime::client {

class ParallelCopy {
 public:
  ~ParallelCopy();
  // The second half is copied by a helper thread, if the block is large enough and the helper is free.
  void copy(std::byte* to, const std::byte* from, std::size_t size);

 private:
  void run_helper();

  std::mutex caller_mutex_;
  std::thread helper_;
  std::byte* to_ = nullptr;
  const std::byte* from_ = nullptr;
  std::size_t size_ = 0;
  std::atomic<bool> requested_{false};
  std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  bool helper_sleeps_ = false, stop_ = false;
};

}  // namespace wm::runtime::client
