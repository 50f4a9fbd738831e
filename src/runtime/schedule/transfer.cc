#include "runtime/schedule/transfer.h"

namespace wm::runtime {

TransferThreads::TransferThreads(unsigned threads, Transferred transferred) : transferred_(std::move(transferred)) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

TransferThreads::~TransferThreads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TransferThreads::add(const CommandPtr& command) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(command);
  }
  changed_.notify_one();
}

void TransferThreads::run() {
  for (;;) {
    CommandPtr command;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      command = std::move(waiting_.front());
      waiting_.pop_front();
    }
    EventHandle event = nullptr;
    Status status = status::kDependencyFailed;
    if (!command->client->closed()) status = command->submit(*command->queue->handle, &event);
    transferred_(command, status, event);
  }
}

}  // namespace wm::runtime
