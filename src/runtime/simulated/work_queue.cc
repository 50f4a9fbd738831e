#include "runtime/simulated/work_queue.h"

#include <chrono>
#include <thread>

namespace wm::runtime {

namespace {

constexpr std::uint32_t kMaxThreads[kWorkKinds] = {8, 2, 1};
constexpr std::chrono::microseconds kPollInterval{200};

}  // namespace

class WorkItem {
 public:
  std::uint64_t number = 0;
  std::function<void()> work;
  std::function<bool()> ready;
  WorkKind kind = WorkKind::transfer;
  std::uint32_t missing = 0;  // items it waits for
  bool done = false;
  std::vector<WorkTicket> dependents;
};

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
  Lane& lane = lanes_[static_cast<std::size_t>(item->kind)];
  if (item->missing == 0) lane.ready.emplace(item->number, item);
  if (lane.idle < lane.ready.size() && lane.threads < kMaxThreads[static_cast<std::size_t>(item->kind)]) {
    start_thread(item->kind);
  }
  lane.changed.notify_one();
  return item;
}

void WorkQueue::start_thread(WorkKind kind) {
  ++lanes_[static_cast<std::size_t>(kind)].threads;
  // The queue lives as long as the process, which does not wait for kernels that never end.
  std::thread([this, kind] { run(kind); }).detach();
}

WorkTicket WorkQueue::take(WorkKind kind, bool& polling) {
  auto& ready = lanes_[static_cast<std::size_t>(kind)].ready;
  for (auto at = ready.begin(); at != ready.end(); ++at) {
    if (at->second->ready && !at->second->ready()) {
      polling = true;
      continue;
    }
    WorkTicket item = std::move(at->second);
    ready.erase(at);
    return item;
  }
  return nullptr;
}

void WorkQueue::run(WorkKind kind) {
  Lane& lane = lanes_[static_cast<std::size_t>(kind)];
  std::unique_lock lock(mutex_);
  while (true) {
    bool polling = false;
    const WorkTicket item = take(kind, polling);
    if (item == nullptr) {
      ++lane.idle;
      if (polling) {
        lane.changed.wait_for(lock, kPollInterval);
      } else {
        lane.changed.wait(lock);
      }
      --lane.idle;
      continue;
    }
    lock.unlock();
    item->work();
    item->work = nullptr;  // with what it holds
    lock.lock();
    finish(item);
  }
}

void WorkQueue::finish(const WorkTicket& item) {
  item->done = true;
  for (const WorkTicket& dependent : item->dependents) {
    if (--dependent->missing != 0) continue;
    Lane& lane = lanes_[static_cast<std::size_t>(dependent->kind)];
    lane.ready.emplace(dependent->number, dependent);
    if (lane.idle < lane.ready.size() && lane.threads < kMaxThreads[static_cast<std::size_t>(dependent->kind)]) {
      start_thread(dependent->kind);
    }
    lane.changed.notify_one();
  }
  item->dependents.clear();
  done_.notify_all();
}

bool WorkQueue::is_done(const WorkTicket& ticket) const {
  if (ticket == nullptr) return true;
  const std::lock_guard lock(mutex_);
  return ticket->done;
}

void WorkQueue::wait(const WorkTicket& ticket) {
  if (ticket == nullptr) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return ticket->done; });
}

}  // namespace wm::runtime
