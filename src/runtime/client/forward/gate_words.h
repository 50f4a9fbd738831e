// The words in device memory that the gates of this process's kernels test, one for each context.
//
// A word is written by a stream of its own with the highest priority, which waits for no other work of the program.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/client/cuda/interface/types.h"

namespace wm::forward {

class GateWords {
 public:
  static GateWords& get() { return *instance(); }
  static void forget_after_fork();

  // The address of the word of the current context, which is made when first asked for; empty: the driver makes none.
  [[nodiscard]] std::optional<CUdeviceptr> of_current();
  [[nodiscard]] bool empty() const;
  // Closes or opens the gates of all contexts. The calling thread's current context may be another one then, so that it
  // need not change for every write.
  void write(bool closed);
  // Opens all gates, and keeps words from being written while it is held.
  class Lock {
   public:
    explicit Lock(GateWords& words) : words_(words), lock_(words.mutex_) { words.open_all(); }
    // These contexts have ended.
    void forget(CUcontext context) const { words_.gates_.erase(context); }
    void forget_all() const { words_.gates_.clear(); }

   private:
    GateWords& words_;
    const std::lock_guard<std::mutex> lock_;
  };
  [[nodiscard]] Lock open_and_lock() { return Lock(*this); }

 private:
  struct Gate {
    CUstream stream = nullptr;
    CUdeviceptr word = 0;
  };
  [[nodiscard]] static GateWords*& instance();
  void write_locked(bool closed);
  // Leaves the current context as it is.
  void open_all();

  mutable std::mutex mutex_;
  std::map<CUcontext, Gate> gates_;
  bool is_closed_ = false;
};

}  // namespace wm::forward
