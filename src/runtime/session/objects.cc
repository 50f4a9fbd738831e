#include "runtime/session/objects.h"

#include <chrono>

namespace wm::runtime {

bool MemoryLimits::crowded(std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return used_ + bytes > total_;
}

std::uint64_t MemoryLimits::spare() const {
  const std::lock_guard lock(mutex_);
  return total_ - used_;
}

bool MemoryLimits::take(Share& share, std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (bytes > each_ || bytes > total_) return false;
  for (;;) {
    if (share.bytes + bytes > each_) return false;
    if (used_ + bytes <= total_) break;
    // Waiting makes sense while others hold memory that they may give back.
    if (!wait_ || used_ == share.bytes || share.closed) return false;
    freed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  used_ += bytes;
  share.bytes += bytes;
  return true;
}

void MemoryLimits::give(Share& share, std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
    share.bytes -= bytes;
  }
  freed_.notify_all();
}

// More shapes of launches than this are not precompiled: those that were went well.
constexpr std::size_t kMostRehearsed = 64;

std::optional<std::string> PrecompiledLaunches::find(const std::string& launch) const {
  const std::lock_guard lock(mutex_);
  if (const auto it = launches_.find(launch); it != launches_.end()) return it->second;
  return launches_.size() < kMostRehearsed ? std::nullopt : std::optional(std::string());
}

void PrecompiledLaunches::note(const std::string& launch, std::string refusal) {
  const std::lock_guard lock(mutex_);
  launches_.emplace(launch, std::move(refusal));
}

void PrecompiledLaunches::forget() {
  const std::lock_guard lock(mutex_);
  launches_.clear();
}

}  // namespace wm::runtime
