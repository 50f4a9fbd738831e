// A mutex for sections of a few microseconds: a thread spins before it blocks.
//
// Threads that lock again at once keep out one that has blocked, for milliseconds in a daemon whose clients all submit
// launches. So the threads that report completions lock first: the others hold back until they have the mutex.
#pragma once

#include <functional>
#include <mutex>

#include "runtime/protocol/futex.h"

namespace wm::runtime {

class SpinMutex {
 public:
  void lock();
  // Before threads that call `lock` later. A thread that has blocked in `lock` before may be served first.
  void lock_first();
  bool try_lock() { return mutex_.try_lock(); }
  // Whether a thread waits in `lock_first`.
  [[nodiscard]] bool is_wanted_first() const { return first_ != 0; }
  // As `lock`, for a thread that needs the mutex only until `obsolete`. False: it is, and the mutex is not locked. A
  // thread that has blocked locks in any case.
  bool lock_unless(const std::function<bool()>& obsolete);
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  Word first_{0};      // threads that wait in `lock_first`
  Word held_back_{0};  // threads that sleep until `first_` is 0
};

// Holds the mutex, taken with `lock_first`.
class FirstLock {
 public:
  explicit FirstLock(SpinMutex& mutex) : mutex_(mutex) { mutex_.lock_first(); }
  ~FirstLock() { mutex_.unlock(); }
  FirstLock(const FirstLock&) = delete;
  FirstLock& operator=(const FirstLock&) = delete;

 private:
  SpinMutex& mutex_;
};

}  // namespace wm::runtime
