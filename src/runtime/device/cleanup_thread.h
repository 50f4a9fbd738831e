// Lets go of what takes long, on a thread of its own: the last to hold a region of a hundred megabytes spends
// milliseconds on giving it back, and nobody's launches should wait for that.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace wm::runtime {

class CleanupThread {
 public:
  CleanupThread() : thread_([this] { sweep(); }) {}
  ~CleanupThread() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    there_.notify_one();
    thread_.join();
  }
  CleanupThread(const CleanupThread&) = delete;
  CleanupThread& operator=(const CleanupThread&) = delete;

  void take(std::shared_ptr<void> thing) {
    {
      const std::lock_guard lock(mutex_);
      things_.push_back(std::move(thing));
    }
    there_.notify_one();
  }

 private:
  void sweep() {
    for (std::unique_lock lock(mutex_);;) {
      there_.wait(lock, [this] { return stop_ || !things_.empty(); });
      if (things_.empty()) return;
      std::vector<std::shared_ptr<void>> gone;
      gone.swap(things_);
      lock.unlock();
      gone.clear();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable there_;
  std::vector<std::shared_ptr<void>> things_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wm::runtime
