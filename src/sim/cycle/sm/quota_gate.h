// Instruction quotas of the kernels on one SM: how many thread instructions each may still issue.
//
// A kernel whose quota is spent is closed: its warps issue nothing until it gets more. The last instruction may take a
// quota below 0. Kernels without a quota are never closed.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "sim/cycle/memory/partition.h"

namespace wm::sim {

class QuotaGate {
 public:
  static constexpr std::int64_t kNoQuota = std::numeric_limits<std::int64_t>::max();

  QuotaGate() { left_.fill(kNoQuota); }

  // Gives the kernel that many instructions; 0 or fewer close it, kNoQuota lifts the limit.
  void set(std::uint8_t kernel, std::int64_t instructions);
  [[nodiscard]] std::int64_t left(std::uint8_t kernel) const { return left_[kernel]; }
  [[nodiscard]] bool has_quota(std::uint8_t kernel) const { return with_quota_ != 0 && left_[kernel] != kNoQuota; }

  // Takes executed instructions off the kernel's quota. True: they spent it; the caller then closes the kernel, after
  // it has accounted for the time until now.
  [[nodiscard]] bool spend(std::uint8_t kernel, std::uint32_t instructions) {
    const bool had_some = left_[kernel] > 0;
    left_[kernel] -= instructions;
    return had_some && left_[kernel] <= 0;
  }
  void close(std::uint8_t kernel) {
    closed_ |= 1U << kernel;
    newly_closed_ |= 1U << kernel;
  }

  // Closed kernels, as bits.
  [[nodiscard]] std::uint32_t closed() const { return closed_; }
  [[nodiscard]] bool is_closed(std::uint8_t kernel) const { return (closed_ >> kernel & 1) != 0; }
  // Kernels that were closed by `close` since the last call, as bits.
  std::uint32_t take_newly_closed() { return std::exchange(newly_closed_, 0); }

 private:
  std::array<std::int64_t, kMaxKernels> left_;
  std::uint32_t with_quota_ = 0;
  std::uint32_t closed_ = 0;
  std::uint32_t newly_closed_ = 0;
};

}  // namespace wm::sim
