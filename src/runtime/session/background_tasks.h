// Work of a session that may take long (compiling, waiting for memory), each on a thread of its own. Safe for use by
// several threads.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <list>
#include <mutex>

namespace wm::runtime {

class BackgroundTasks {
 public:
  void run(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    remove_finished();
    tasks_.push_back(std::async(std::launch::async, std::move(work)));
  }
  // The tasks that have not finished.
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    remove_finished();
    return tasks_.size();
  }
  void wait() {
    std::list<std::future<void>> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) task.wait();
  }

 private:
  void remove_finished() {
    tasks_.remove_if([](const auto& t) { return t.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  }

  std::mutex mutex_;
  std::list<std::future<void>> tasks_;
};

}  // namespace wm::runtime
