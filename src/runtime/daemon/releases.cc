#include "runtime/daemon/releases.h"

#include <chrono>

namespace wm::runtime {

Releases::Releases(const Native& native, std::function<bool()> at_rest)
    : native_(native), at_rest_(std::move(at_rest)) {
  if (!native.in_host_memory()) thread_ = std::thread([this] { run(); });
}

Releases::~Releases() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  there_.notify_all();
  if (thread_.joinable()) thread_.join();
  now();
}

void Releases::release(cl_mem memory, std::uint64_t bytes, std::function<void()> gone) {
  Thing thing{memory, bytes, std::move(gone)};
  if (native_.in_host_memory()) return give_back(thing);
  {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
    things_.push_back(std::move(thing));
  }
  there_.notify_one();
}

void Releases::give_back(const Thing& thing) {
  native_.cl.ReleaseMemObject(thing.memory);
  thing.gone();
}

void Releases::now() {
  std::vector<Thing> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(things_);
  }
  for (const Thing& thing : all) {
    give_back(thing);
    bytes_ -= thing.bytes;
  }
}

// One at a time: what comes to the device meanwhile waits for one release at most.
void Releases::run() {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(1);
  for (std::unique_lock lock(mutex_); !stop_;) {
    if (things_.empty()) {
      there_.wait(lock, [this] { return stop_ || !things_.empty(); });
    } else if (!at_rest_()) {
      there_.wait_for(lock, kBetweenLooks, [this] { return stop_; });
    } else {
      const Thing thing = std::move(things_.back());
      things_.pop_back();
      lock.unlock();
      give_back(thing);
      bytes_ -= thing.bytes;
      lock.lock();
    }
  }
}

}  // namespace wm::runtime
