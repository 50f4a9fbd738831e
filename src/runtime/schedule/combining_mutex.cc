#include "runtime/schedule/combining_mutex.h"

#include <utility>

namespace wm::runtime {
namespace {

constexpr int kMaxPasses = 4;

}  // namespace

void CombiningMutex::run(const std::function<void()>& work) {
  Request mine{work, latest_.load(std::memory_order_relaxed)};
  while (!latest_.compare_exchange_weak(mine.before, &mine)) {
  }
  const bool took = mutex_.lock_unless([&mine] { return mine.done.load(std::memory_order_acquire); });
  if (took) unlock();
}

void CombiningMutex::unlock() {
  serve();
  mutex_.unlock();
}

// Requests that are made meanwhile are served, too, but not for ever: the caller has work of its own.
void CombiningMutex::serve() {
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    Request* oldest = nullptr;
    for (Request* next = latest_.exchange(nullptr); next != nullptr;) {
      Request* const before = std::exchange(next->before, oldest);
      oldest = std::exchange(next, before);
    }
    if (oldest == nullptr) return;
    while (oldest != nullptr) {
      Request& request = *oldest;
      oldest = request.before;
      request.work();
      request.done.store(true, std::memory_order_release);  // the request is gone from here on
    }
  }
}

}  // namespace wm::runtime
