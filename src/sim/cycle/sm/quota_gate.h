// Instruction quotas of the kernels on one SM: how many thread instructions each may still complete.
//
// An instruction is taken off its kernel's quota when it completes ("When a warp instruction of k is completed, C_k is
// decremented", ISCA 2017, section 3.4.1), and a kernel whose quota is spent is closed: its warps issue nothing until
// it gets more. Instructions in flight when it closed take the quota below 0. Kernels without one are never closed.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/cycle/memory/partition.h"
#include "sim/cycle/sm/in_flight.h"

namespace wm::sim {

class QuotaGate {
 public:
  static constexpr std::int64_t kNoQuota = std::numeric_limits<std::int64_t>::max();
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  QuotaGate() { left_.fill(kNoQuota); }

  // Gives the kernel that many instructions from `now` on; 0 or fewer close it, kNoQuota lifts the limit.
  void set(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now);
  // The quota without the instructions that completed before `now`.
  [[nodiscard]] std::int64_t left(std::uint8_t kernel, std::uint64_t now) const;
  [[nodiscard]] bool has_quota(std::uint8_t kernel) const { return with_quota_ != 0 && left_[kernel] != kNoQuota; }

  // At `now` it is known that so many instructions of the kernel, which has a quota, complete at `at`.
  void spend(std::uint8_t kernel, std::uint32_t instructions, std::uint64_t now, std::uint64_t at);
  // The cycle in which the next kernel spends its quota by the instructions that are known.
  [[nodiscard]] std::uint64_t spent_at() const { return spent_at_; }
  // Closes the kernels that spent their quotas by `now`, in the cycle spent_at() or later.
  void close_spent(std::uint64_t now);

  // Closed kernels, as bits.
  [[nodiscard]] std::uint32_t closed() const { return closed_; }
  [[nodiscard]] bool is_closed(std::uint8_t kernel) const { return (closed_ >> kernel & 1) != 0; }
  // Kernels that were closed by `close_spent` since the last call, as bits.
  [[nodiscard]] bool has_newly_closed() const { return newly_closed_ != 0; }
  std::uint32_t take_newly_closed() { return std::exchange(newly_closed_, 0); }

 private:
  [[nodiscard]] std::uint64_t spent_at(std::uint8_t kernel) const;
  void find_next();

  std::array<std::int64_t, kMaxKernels> left_;
  std::uint32_t with_quota_ = 0;
  std::uint32_t closed_ = 0;
  std::uint32_t newly_closed_ = 0;
  std::uint64_t spent_at_ = kNever;
  std::vector<InFlight> in_flight_;  // by kernel; none before the first quota
};

}  // namespace wm::sim
