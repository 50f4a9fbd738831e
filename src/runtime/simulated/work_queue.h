// Executes the work of all streams of the simulated GPU: items run when the items they depend on are done.
//
// Work is of three kinds with threads of their own, so that a kernel does not hold up copies of other streams, a host
// function does not hold up either, and kernels of several streams run at the same time. Among ready
// items the one submitted first starts first.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace wm::runtime {

enum class WorkKind : std::uint8_t { kernel, transfer, host_function };
inline constexpr std::size_t kWorkKinds = 3;

class WorkItem;
// Names submitted work: what other work depends on, and what a thread waits for. Empty: work that is done.
using WorkTicket = std::shared_ptr<WorkItem>;

class WorkQueue {
 public:
  WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  struct Options {
    WorkKind kind = WorkKind::transfer;
    // Polled, where given: the work starts when it returns true.
    std::function<bool()> ready;
  };
  // Runs `work` on a thread of its kind after all of `after` are done.
  WorkTicket submit(const std::vector<WorkTicket>& after, std::function<void()> work, Options options);

  [[nodiscard]] bool is_done(const WorkTicket& ticket) const;
  void wait(const WorkTicket& ticket);

  // Where kernels run in another process: `on_waiting` is called when threads of the application wait and no work can
  // go on before that process answers. The queue's lock is held; any number of kernels may then run at the same time.
  void set_on_waiting(std::function<void()> on_waiting);
  // Work of this thread begins, and has ended, in the other process.
  void remote_work_began();
  void remote_work_ended();
  // Whether some work runs, or may start, in this process.
  [[nodiscard]] bool has_active_work() const;

 private:
  void start_thread(WorkKind kind);
  void run(WorkKind kind);
  // The first item of a kind that may start, taken from the list; nullptr: there is none.
  WorkTicket take(WorkKind kind, bool& polling);
  void finish(const WorkTicket& item);
  void make_ready(const WorkTicket& item);
  void notify_if_waiting();

  struct ThreadPool {
    std::map<std::uint64_t, WorkTicket> ready;  // by number
    std::condition_variable changed;
    std::uint32_t threads = 0;
    std::uint32_t idle = 0;
  };

  mutable std::mutex mutex_;
  std::condition_variable done_;
  std::uint64_t submitted_ = 0;
  ThreadPool pools_[kWorkKinds];
  std::uint32_t max_kernels_;
  std::uint32_t active_ = 0;   // items that run or may start here
  std::uint32_t waiting_ = 0;  // threads of the application that wait
  std::function<void()> on_waiting_;
};

}  // namespace wm::runtime
