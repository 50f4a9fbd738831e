#include "sim/cycle/host_threads.h"

namespace wm::sim {
namespace {

// A round is a few hundred microseconds: waiting threads spin that long, then give their core away.
template <typename Done>
void wait_until(Done&& done) {
  for (std::uint32_t spins = 0; !done(); ++spins)
    if (spins > 20000) std::this_thread::yield();
}

}  // namespace

HostThreads::HostThreads(std::uint32_t threads) {
  for (std::uint32_t i = 1; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

HostThreads::~HostThreads() {
  stop_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  for (std::thread& t : threads_) t.join();
}

void HostThreads::take_tasks() {
  for (std::uint32_t i = next_.fetch_add(1, std::memory_order_relaxed); i < tasks_;
       i = next_.fetch_add(1, std::memory_order_relaxed))
    (*task_)(i);
}

void HostThreads::work() {
  for (std::uint64_t seen = 0;;) {
    wait_until([&] { return round_.load(std::memory_order_acquire) != seen; });
    ++seen;
    if (stop_.load(std::memory_order_relaxed)) return;
    take_tasks();
    finished_.fetch_add(1, std::memory_order_release);
  }
}

void HostThreads::run(std::uint32_t tasks, const std::function<void(std::uint32_t)>& task) {
  if (threads_.empty()) {
    for (std::uint32_t i = 0; i < tasks; ++i) task(i);
    return;
  }
  task_ = &task;
  tasks_ = tasks;
  next_.store(0, std::memory_order_relaxed);
  finished_.store(0, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  take_tasks();
  wait_until([&] { return finished_.load(std::memory_order_acquire) == threads_.size(); });
}

}  // namespace wm::sim
