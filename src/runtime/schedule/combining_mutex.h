// A mutex whose holder also does the work of threads that wait for it (flat combining, Hendler et al., SPAA 2010).
//
// A thread that waited for the mutex would begin with cold caches: its first call of a GPU's driver after a pause takes
// up to ten times as long as the next one. The holder, which has just made such a call, does the same work sooner.
#pragma once

#include <atomic>

#include "runtime/schedule/spin_mutex.h"

namespace wm::runtime {

class CombiningMutex {
 public:
  // Calls `work` with the mutex held, on this thread or on another one that holds it, and returns when it is done. Work
  // of several threads is done in the order in which they asked for it. It must not throw.
  template <typename Work>
  void run(const Work& work) {
    Request mine{[](const void* w) { (*static_cast<const Work*>(w))(); }, &work};
    run(mine);
  }

  void lock() { mutex_.lock(); }
  void unlock();
  // The same mutex, for threads that must not be held up by the work of others.
  [[nodiscard]] SpinMutex& plain() { return mutex_; }

 private:
  // A thread waits in `run` for it.
  struct Request {
    void (*call)(const void* work);
    const void* work;
    Request* other = nullptr;  // the one made just before, and once they are in order the next one
    std::atomic<bool> done{false};
  };
  void run(Request& mine);
  void put_in_order();
  bool serve_one();

  SpinMutex mutex_;
  std::atomic<Request*> latest_{nullptr};
  Request* oldest_ = nullptr;  // with the mutex held: the requests in order
};

}  // namespace wm::runtime
