#include "runtime/schedule/combining_mutex.h"

#include <utility>

namespace wm::runtime {
namespace {

// For a thread that has work of its own.
constexpr int kMaxServed = 32;

}  // namespace

void CombiningMutex::run(Request& mine) {
  mine.other = latest_.load(std::memory_order_relaxed);
  while (!latest_.compare_exchange_weak(mine.other, &mine)) {
  }
  const auto is_done = [&mine] { return mine.done.load(std::memory_order_acquire); };
  if (!mutex_.lock_unless(is_done)) return;
  while (!is_done()) serve_one();
  unlock();
}

// Requests that are left are served by the next thread that unlocks, or by those that made them.
void CombiningMutex::unlock() {
  for (int served = 0; served < kMaxServed && !mutex_.is_wanted_first() && serve_one();) ++served;
  mutex_.unlock();
}

void CombiningMutex::put_in_order() {
  for (Request* next = latest_.exchange(nullptr); next != nullptr;) {
    Request* const before = std::exchange(next->other, oldest_);
    oldest_ = std::exchange(next, before);
  }
}

bool CombiningMutex::serve_one() {
  if (oldest_ == nullptr) put_in_order();
  if (oldest_ == nullptr) return false;
  Request& request = *std::exchange(oldest_, oldest_->other);
  request.call(request.work);
  request.done.store(true, std::memory_order_release);  // the request is gone from here on
  return true;
}

}  // namespace wm::runtime
