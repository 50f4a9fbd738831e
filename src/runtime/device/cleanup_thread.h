// Destroys objects in the background: unmapping a region of a hundred megabytes takes milliseconds, for which no
// client's launches should wait.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace wm::runtime {

class CleanupThread {
 public:
  CleanupThread() : thread_([this] { run(); }) {}
  ~CleanupThread() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  CleanupThread(const CleanupThread&) = delete;
  CleanupThread& operator=(const CleanupThread&) = delete;

  // `object` is destroyed on the thread if this is its last owner.
  void take(std::shared_ptr<void> object) {
    {
      const std::lock_guard lock(mutex_);
      objects_.push_back(std::move(object));
    }
    changed_.notify_one();
  }

 private:
  void run() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return stop_ || !objects_.empty(); });
      if (objects_.empty()) return;
      std::vector<std::shared_ptr<void>> dead;
      dead.swap(objects_);
      lock.unlock();
      dead.clear();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<void>> objects_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace wm::runtime
