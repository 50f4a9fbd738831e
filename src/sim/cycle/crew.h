// A crew of threads that does numbered tasks and waits for each other: `run(n, f)` calls f(0) … f(n-1), each once, on
// any of them, and returns when all are done. The caller is one of the crew; a crew of one has no other threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace wm::sim {

class Crew {
 public:
  explicit Crew(std::uint32_t threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void run(std::uint32_t tasks, const std::function<void(std::uint32_t)>& task);

 private:
  void work();
  void take_tasks();

  std::vector<std::thread> threads_;
  const std::function<void(std::uint32_t)>* task_ = nullptr;
  std::uint32_t tasks_ = 0;
  alignas(64) std::atomic<std::uint32_t> next_{0};
  alignas(64) std::atomic<std::uint32_t> finished_{0};  // threads that are through with this round
  alignas(64) std::atomic<std::uint64_t> round_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace wm::sim
