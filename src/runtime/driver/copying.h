// Large copies by two threads: one core alone does not fill the way between caches and memory.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace wm::runtime::driver {

class Copying {
 public:
  ~Copying();
  // The half of it by a thread of its own, where that is worth it and nobody else has it.
  void copy(std::byte* to, const std::byte* from, std::size_t size);

 private:
  void help();

  std::mutex one_at_a_time_;
  std::thread helper_;
  std::byte* to_ = nullptr;
  const std::byte* from_ = nullptr;
  std::size_t size_ = 0;
  std::atomic<bool> asked_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool asleep_ = false, stop_ = false;
};

}  // namespace wm::runtime::driver
