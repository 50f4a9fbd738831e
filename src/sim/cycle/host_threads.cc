#include "sim/cycle/host_threads.h"

namespace wm::sim {
namespace {

// A round is a few hundred microseconds: waiting threads spin that long, then give their core away.
constexpr std::uint32_t kSpins = 20000;
// Between launches no round comes for long: a thread that has given its core away so often sleeps until one does.
constexpr std::uint32_t kYields = 1000;
// Fewer tasks take less time than the threads need to meet.
constexpr std::uint32_t kTasksOfARound = 4;

}  // namespace

HostThreads::HostThreads(std::uint32_t threads) {
  for (std::uint32_t i = 1; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

HostThreads::~HostThreads() {
  stop_.store(true, std::memory_order_relaxed);
  begin_round();
  for (std::thread& t : threads_) t.join();
}

void HostThreads::begin_round() {
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void HostThreads::await_round_after(std::uint64_t seen) const {
  for (std::uint32_t waited = 0; round_.load(std::memory_order_acquire) == seen; ++waited) {
    if (waited > kSpins + kYields) {
      round_.wait(seen, std::memory_order_acquire);
    } else if (waited > kSpins) {
      std::this_thread::yield();
    }
  }
}

void HostThreads::take_tasks() {
  for (std::uint32_t i = next_.fetch_add(1, std::memory_order_relaxed); i < tasks_;
       i = next_.fetch_add(1, std::memory_order_relaxed))
    (*task_)(i);
}

void HostThreads::work() {
  for (std::uint64_t seen = 0;;) {
    await_round_after(seen);
    ++seen;
    if (stop_.load(std::memory_order_relaxed)) return;
    take_tasks();
    finished_.fetch_add(1, std::memory_order_release);
  }
}

void HostThreads::run(std::uint32_t tasks, const std::function<void(std::uint32_t)>& task) {
  if (threads_.empty() || tasks < kTasksOfARound) {
    for (std::uint32_t i = 0; i < tasks; ++i) task(i);
    return;
  }
  task_ = &task;
  tasks_ = tasks;
  next_.store(0, std::memory_order_relaxed);
  finished_.store(0, std::memory_order_relaxed);
  begin_round();
  take_tasks();
  for (std::uint32_t spins = 0; finished_.load(std::memory_order_acquire) != threads_.size(); ++spins)
    if (spins > kSpins) std::this_thread::yield();
}

}  // namespace wm::sim
