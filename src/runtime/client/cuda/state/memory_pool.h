// A memory pool: its attributes, and the bytes that programs use of it. Simulated memory is not kept when it is freed,
// so a pool has reserved what is in use.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace wm::cuda {

class MemoryPool {
 public:
  enum Attribute : int {
    kReuseFirst = 1,
    kReuseLast = 3,
    kReleaseThreshold = 4,
    kReserved = 5,
    kReservedHigh = 6,
    kUsed = 7,
    kUsedHigh = 8
  };

  // 0 bytes: as many as the device has.
  explicit MemoryPool(std::uint64_t max_bytes = 0) : max_bytes_(max_bytes) {}

  // Counts `bytes` as used until the returned object has gone; nullptr: the pool may not have so many.
  static std::shared_ptr<void> use(const std::shared_ptr<MemoryPool>& pool, std::uint64_t bytes) {
    const std::lock_guard lock(pool->mutex_);
    if (pool->max_bytes_ != 0 && bytes > pool->max_bytes_ - pool->used_) return nullptr;
    pool->used_ += bytes;
    pool->used_high_ = std::max(pool->used_high_, pool->used_);
    pool->reserved_high_ = std::max(pool->reserved_high_, pool->used_);
    return {pool.get(), [pool, bytes](void*) {
              const std::lock_guard last(pool->mutex_);
              pool->used_ -= bytes;
            }};
  }

  // Empty: there is no such attribute.
  [[nodiscard]] std::optional<std::uint64_t> attribute(int attribute) const {
    const std::lock_guard lock(mutex_);
    switch (attribute) {
      case kReserved:
      case kUsed:
        return used_;
      case kReservedHigh:
        return reserved_high_;
      case kUsedHigh:
        return used_high_;
      default:
        if (attribute < kReuseFirst || attribute > kReleaseThreshold) return std::nullopt;
        return settings_[static_cast<std::size_t>(attribute)];
    }
  }

  // False: the attribute cannot have this value. The most bytes in use can be reset to 0: they count from then on.
  [[nodiscard]] bool set_attribute(int attribute, std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    if (attribute == kReservedHigh || attribute == kUsedHigh) {
      if (value != 0) return false;
      (attribute == kUsedHigh ? used_high_ : reserved_high_) = used_;
      return true;
    }
    if (attribute < kReuseFirst || attribute > kReleaseThreshold) return false;
    settings_[static_cast<std::size_t>(attribute)] = value;
    return true;
  }

 private:
  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;  // guards all below
  std::uint64_t used_ = 0;
  std::uint64_t used_high_ = 0;
  std::uint64_t reserved_high_ = 0;
  std::array<std::uint64_t, kReleaseThreshold + 1> settings_{0, 1, 1, 1, 0};  // reuse is allowed, nothing is kept
};

}  // namespace wm::cuda
