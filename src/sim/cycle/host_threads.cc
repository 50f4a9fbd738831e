#include "sim/cycle/host_threads.h"

#include <algorithm>

namespace wm::sim {
namespace {

// A round is a few hundred microseconds: waiting threads spin that long, then give their core away.
constexpr std::uint32_t kSpins = 20000;
// Between launches no round comes for long: a thread that has given its core away so often sleeps until one does.
constexpr std::uint32_t kYields = 1000;
// Fewer tasks take less time than the threads need to meet.
constexpr std::uint32_t kTasksOfARound = 4;

}  // namespace

HostThreads::HostThreads(std::uint32_t threads) : parts_(std::max(threads, 1U)) {
  for (std::uint32_t i = 1; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
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

void HostThreads::divide(std::uint32_t tasks) {
  const auto bound = [&](std::size_t part) { return static_cast<std::uint32_t>(part * tasks / parts_.size()); };
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].next.store(bound(i), std::memory_order_relaxed);
    parts_[i].end = bound(i + 1);
  }
}

void HostThreads::take_tasks(std::size_t thread) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[(thread + i) % parts_.size()];
    while (part.next.load(std::memory_order_relaxed) < part.end) {
      const std::uint32_t task = part.next.fetch_add(1, std::memory_order_relaxed);
      if (task < part.end) (*task_)(task);
    }
  }
}

void HostThreads::work(std::size_t thread) {
  for (std::uint64_t seen = 0;;) {
    await_round_after(seen);
    ++seen;
    if (stop_.load(std::memory_order_relaxed)) return;
    take_tasks(thread);
    finished_.fetch_add(1, std::memory_order_release);
  }
}

void HostThreads::run(std::uint32_t tasks, const std::function<void(std::uint32_t)>& task) {
  if (threads_.empty() || tasks < kTasksOfARound) {
    for (std::uint32_t i = 0; i < tasks; ++i) task(i);
    return;
  }
  task_ = &task;
  divide(tasks);
  finished_.store(0, std::memory_order_relaxed);
  begin_round();
  take_tasks(0);
  for (std::uint32_t spins = 0; finished_.load(std::memory_order_acquire) != threads_.size(); ++spins)
    if (spins > kSpins) std::this_thread::yield();
}

}  // namespace wm::sim
