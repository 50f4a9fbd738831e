#include "runtime/device/deferred_release.h"

#include <chrono>

namespace wm::runtime {

DeferredRelease::DeferredRelease(Backend& backend, std::function<bool()> idle)
    : backend_(backend), idle_(std::move(idle)) {
  if (!backend.capabilities().release_waits_for_kernels) return;
  queue_ = backend.allocation().create_queue(true, false).object;
  thread_ = std::thread([this] { run(); });
}

DeferredRelease::~DeferredRelease() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  release_now();
}

void DeferredRelease::release(MemoryHandle memory, std::uint64_t bytes, std::function<void()> released) {
  Pending pending{std::move(memory), bytes, std::move(released)};
  if (!thread_.joinable()) return give_back(std::move(pending));
  {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
    pending_.push_back(std::move(pending));
  }
  changed_.notify_one();
}

void DeferredRelease::give_back(Pending pending) {
  if (queue_ && pending.bytes != 0) backend_.allocation().wipe(*queue_, *pending.memory);
  pending.memory.reset();
  pending.released();
}

void DeferredRelease::release_now() {
  std::vector<Pending> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(pending_);
  }
  for (Pending& pending : all) {
    const std::uint64_t bytes = pending.bytes;
    give_back(std::move(pending));
    bytes_ -= bytes;
  }
}

// One at a time: a command that is submitted meanwhile waits for one release at most.
void DeferredRelease::run() {
  constexpr auto kInterval = std::chrono::milliseconds(1);
  for (std::unique_lock lock(mutex_); !stop_;) {
    if (pending_.empty()) {
      changed_.wait(lock, [this] { return stop_ || !pending_.empty(); });
    } else if (!idle_()) {
      changed_.wait_for(lock, kInterval, [this] { return stop_; });
    } else {
      Pending pending = std::move(pending_.back());
      pending_.pop_back();
      lock.unlock();
      const std::uint64_t bytes = pending.bytes;
      give_back(std::move(pending));
      bytes_ -= bytes;
      lock.lock();
    }
  }
}

}  // namespace wm::runtime
