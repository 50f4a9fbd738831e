#include "runtime/device/memory.h"

#include <chrono>

namespace wm::runtime {

bool MemoryLimits::must_wait(std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return used_ + bytes > total_;
}

std::uint64_t MemoryLimits::available() const {
  const std::lock_guard lock(mutex_);
  return total_ - used_;
}

bool MemoryLimits::allocate(Share& share, std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (bytes > per_client_ || bytes > total_) return false;
  for (;;) {
    if (share.bytes + bytes > per_client_) return false;
    if (used_ + bytes <= total_) break;
    // Waiting can succeed only while other clients hold memory that they may free.
    if (!wait_ || used_ == share.bytes || share.closed) return false;
    freed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  used_ += bytes;
  share.bytes += bytes;
  return true;
}

void MemoryLimits::free(Share& share, std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
    share.bytes -= bytes;
  }
  freed_.notify_all();
}

}  // namespace wm::runtime
