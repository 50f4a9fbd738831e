// The host threads of a simulation, which do numbered tasks and wait for each other: `run(n, f)` calls f(0) … f(n-1),
// each once, on any of them, and returns when all are done. The calling thread is one of them; with one there are no
// others. A thread that has nothing to do for long sleeps; a few tasks are done by the calling thread.
//
// Each thread begins with the same part of the tasks in every round, whose data its core's cache holds, and then takes
// those of the others' parts that are left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace wm::sim {

class HostThreads {
 public:
  explicit HostThreads(std::uint32_t threads);
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  void run(std::uint32_t tasks, const std::function<void(std::uint32_t)>& task);

 private:
  // The tasks from `next` on belong to a thread, until others take them.
  struct alignas(64) Part {
    std::atomic<std::uint32_t> next{0};
    std::uint32_t end = 0;
  };

  void work(std::size_t thread);
  void take_tasks(std::size_t thread);
  void divide(std::uint32_t tasks);
  void begin_round();
  void await_round_after(std::uint64_t seen) const;

  std::vector<std::thread> threads_;
  const std::function<void(std::uint32_t)>* task_ = nullptr;
  std::vector<Part> parts_;                             // by thread
  alignas(64) std::atomic<std::uint32_t> finished_{0};  // threads that are through with this round
  alignas(64) std::atomic<std::uint64_t> round_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace wm::sim
