#include "runtime/simulated/work_queue.h"

#include <chrono>
#include <thread>

namespace wm::runtime {

namespace {

// As many grids as a GPU holds at once: kernels of several streams may wait for each other.
constexpr std::uint32_t kMaxKernels = 128, kMaxKernelsElsewhere = 1024;
constexpr std::chrono::microseconds kPollInterval{200};

}  // namespace

class WorkItem {
 public:
  std::uint64_t number = 0;
  std::function<void()> work;
  std::function<bool()> ready;
  WorkKind kind = WorkKind::transfer;
  std::uint32_t missing = 0;  // items it waits for
  std::uint32_t waiters = 0;  // threads that wait for it
  bool done = false;
  std::vector<WorkTicket> dependents;
};

WorkQueue::WorkQueue() : max_kernels_(kMaxKernels) {}

void WorkQueue::set_on_waiting(std::function<void()> on_waiting) {
  const std::lock_guard lock(mutex_);
  on_waiting_ = std::move(on_waiting);
  max_kernels_ = kMaxKernelsElsewhere;
}

void WorkQueue::notify_if_waiting() {
  if (on_waiting_ && waiting_ != 0 && active_ == 0) on_waiting_();
}

void WorkQueue::remote_work_began() {
  const std::lock_guard lock(mutex_);
  --active_;
  notify_if_waiting();
}

void WorkQueue::remote_work_ended() {
  const std::lock_guard lock(mutex_);
  ++active_;
}

bool WorkQueue::has_active_work() const {
  const std::lock_guard lock(mutex_);
  return active_ != 0;
}

WorkTicket WorkQueue::submit(const std::vector<WorkTicket>& after, std::function<void()> work, Options options) {
  auto item = std::make_shared<WorkItem>();
  item->work = std::move(work);
  item->ready = std::move(options.ready);
  item->kind = options.kind;
  const std::lock_guard lock(mutex_);
  item->number = ++submitted_;
  for (const WorkTicket& before : after) {
    if (before == nullptr || before->done) continue;
    before->dependents.push_back(item);
    ++item->missing;
  }
  if (item->missing == 0) make_ready(item);
  return item;
}

// An item that asks whether it may start counts as active only when it does.
void WorkQueue::make_ready(const WorkTicket& item) {
  const auto kind = static_cast<std::size_t>(item->kind);
  const std::uint32_t max_threads[kWorkKinds] = {max_kernels_, 2, 1};
  ThreadPool& pool = pools_[kind];
  pool.ready.emplace(item->number, item);
  if (!item->ready) ++active_;
  if (pool.idle < pool.ready.size() && pool.threads < max_threads[kind]) start_thread(item->kind);
  pool.changed.notify_one();
}

void WorkQueue::start_thread(WorkKind kind) {
  ++pools_[static_cast<std::size_t>(kind)].threads;
  // The queue lives as long as the process, which does not wait for kernels that never end.
  std::thread([this, kind] { run(kind); }).detach();
}

WorkTicket WorkQueue::take(WorkKind kind, bool& polling) {
  auto& ready = pools_[static_cast<std::size_t>(kind)].ready;
  for (auto at = ready.begin(); at != ready.end(); ++at) {
    if (at->second->ready && !at->second->ready()) {
      polling = true;
      continue;
    }
    WorkTicket item = std::move(at->second);
    ready.erase(at);
    if (item->ready) ++active_;
    return item;
  }
  return nullptr;
}

void WorkQueue::run(WorkKind kind) {
  ThreadPool& pool = pools_[static_cast<std::size_t>(kind)];
  std::unique_lock lock(mutex_);
  while (true) {
    bool polling = false;
    const WorkTicket item = take(kind, polling);
    if (item == nullptr) {
      ++pool.idle;
      if (polling) {
        pool.changed.wait_for(lock, kPollInterval);
      } else {
        pool.changed.wait(lock);
      }
      --pool.idle;
      continue;
    }
    lock.unlock();
    item->work();
    item->work = nullptr;  // with what both hold: a stream keeps its last items, and `ready` may keep the context
    item->ready = nullptr;
    lock.lock();
    finish(item);
  }
}

void WorkQueue::finish(const WorkTicket& item) {
  item->done = true;
  waiting_ -= item->waiters;
  --active_;
  for (const WorkTicket& dependent : item->dependents) {
    if (--dependent->missing == 0) make_ready(dependent);
  }
  item->dependents.clear();
  done_.notify_all();
  notify_if_waiting();
}

bool WorkQueue::is_done(const WorkTicket& ticket) const {
  if (ticket == nullptr) return true;
  const std::lock_guard lock(mutex_);
  return ticket->done;
}

void WorkQueue::wait(const WorkTicket& ticket) {
  if (ticket == nullptr) return;
  std::unique_lock lock(mutex_);
  if (ticket->done) return;
  ++ticket->waiters;
  ++waiting_;
  notify_if_waiting();
  done_.wait(lock, [&] { return ticket->done; });
}

}  // namespace wm::runtime
