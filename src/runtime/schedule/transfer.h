// Large transfers of devices with memory of their own: a thread makes the call and waits in it, without the scheduler's
// lock. All earlier commands of their queue have completed by then, and later ones wait for them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/schedule/command.h"

namespace wm::runtime {

class TransferThreads {
 public:
  // Called by a transfer thread; `event` belongs to the callee, and may be null.
  using Transferred = std::function<void(const CommandPtr& command, Status status, EventHandle event)>;
  TransferThreads(unsigned threads, Transferred transferred);
  // Waits for transfers that have begun, and makes those that wait.
  ~TransferThreads();
  TransferThreads(const TransferThreads&) = delete;
  TransferThreads& operator=(const TransferThreads&) = delete;

  void add(const CommandPtr& command);

 private:
  void run();

  const Transferred transferred_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<CommandPtr> waiting_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace wm::runtime
