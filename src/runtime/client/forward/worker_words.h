// The workers of this process, in all of its contexts: the SMs that they may use.
//
// These are the SMs with numbers below a limit, not SMs that the daemon has chosen: through MPS a GPU of compute
// capability 9 numbers its SMs for each process anew, in the order in which blocks of the process come to them. While
// another process fills SMs 0 to 111 of an H200, blocks of this one see 0 to 19 on the others. So processes that each
// use the first SMs which they see use different ones, as long as their limits add up to the GPU's SMs.
//
// The thread that keeps the connection to the daemon writes the SMs, through a stream that waits for no other work of
// the program, and asks which SMs workers have left. Where a program gets SMs while its kernels run, it starts more
// workers of these, beside the program's streams. A launch completes without that: whatever this thread waits for, the
// program's work goes on.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/client/forward/worker_table.h"

namespace wm::forward {

class WorkerWords {
 public:
  static WorkerWords& get() { return *instance(); }
  static void forget_after_fork();

  // The words for a launch in the current context.
  struct Launch {
    CUcontext context = nullptr;
    WorkerTable::Launch words;
    std::uint32_t allowed_sms = 0;
  };
  // Empty: the driver makes none, or too many launches are on their way.
  [[nodiscard]] std::optional<Launch> take();
  // The driver has taken the launch, or has refused it. The context is current. Where the program has got SMs since the
  // words were taken, more workers are started; how many launches were made for that.
  unsigned launched(const Launch& launch, WorkerKernel kernel);
  void give_back(const Launch& launch);
  // The kernel is unloaded: no more workers of it are started.
  void forget(CUfunction function);

  // Lets workers use so many SMs in all contexts, and starts more of them where these are more than before. The calling
  // thread's current context may be another one then. How many launches were made for that.
  unsigned allow(std::uint32_t sms);
  // The workers as they are now. `leaving`: the number of SMs beyond these that workers have not left yet. `added`:
  // launches that were made because a kernel runs on few of the program's SMs. Empty: not known.
  struct Look {
    std::uint32_t leaving = 0, added = 0;
    bool is_running = false;  // an SM has workers
  };
  [[nodiscard]] std::optional<Look> look();

  // Keeps words from being written while it is held.
  class Lock {
   public:
    explicit Lock(WorkerWords& words) : words_(words), lock_(words.mutex_) {}
    // These contexts have ended.
    void forget(CUcontext context) const { words_.tables_.erase(context); }
    void forget_all() const { words_.tables_.clear(); }

   private:
    WorkerWords& words_;
    const std::lock_guard<std::mutex> lock_;
  };

 private:
  [[nodiscard]] static WorkerWords*& instance();
  // Calls `visit` with every table, whose context is current; a table for which it returns false is forgotten.
  template <typename Visit>
  void for_each(Visit&& visit);

  std::mutex mutex_;
  std::map<CUcontext, std::unique_ptr<WorkerTable>> tables_;  // null: the driver makes none
  std::uint32_t allowed_ = kAllSms;
};

}  // namespace wm::forward
