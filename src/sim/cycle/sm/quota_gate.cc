#include "sim/cycle/sm/quota_gate.h"

#include <algorithm>
#include <bit>

namespace wm::sim {

void QuotaGate::set(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now) {
  if (in_flight_.empty() && instructions != kNoQuota) in_flight_.resize(kMaxKernels);
  if (!in_flight_.empty()) {
    if (instructions == kNoQuota) in_flight_[kernel] = {};
    in_flight_[kernel].take_before(now);
  }
  const std::uint32_t bit = 1U << kernel;
  left_[kernel] = instructions;
  with_quota_ = instructions != kNoQuota ? with_quota_ | bit : with_quota_ & ~bit;
  closed_ = instructions <= 0 ? closed_ | bit : closed_ & ~bit;
  find_next();
}

std::int64_t QuotaGate::left(std::uint8_t kernel, std::uint64_t now) const {
  if (!has_quota(kernel)) return kNoQuota;
  return left_[kernel] - static_cast<std::int64_t>(in_flight_[kernel].count_before(now));
}

void QuotaGate::spend(std::uint8_t kernel, std::uint32_t instructions, std::uint64_t now, std::uint64_t at) {
  left_[kernel] -= static_cast<std::int64_t>(in_flight_[kernel].take_before(now));
  in_flight_[kernel].add(instructions, at);
  spent_at_ = std::min(spent_at_, spent_at(kernel));
}

void QuotaGate::close_spent(std::uint64_t now) {
  for (std::uint32_t m = with_quota_ & ~closed_; m != 0; m &= m - 1) {
    const auto kernel = static_cast<std::uint8_t>(std::countr_zero(m));
    if (spent_at(kernel) > now) continue;
    closed_ |= 1U << kernel;
    newly_closed_ |= 1U << kernel;
  }
  find_next();
}

// A kernel that is closed has spent its quota already.
std::uint64_t QuotaGate::spent_at(std::uint8_t kernel) const {
  if (is_closed(kernel) || left_[kernel] > static_cast<std::int64_t>(in_flight_[kernel].total())) return kNever;
  return in_flight_[kernel].time_of(static_cast<std::uint64_t>(std::max<std::int64_t>(left_[kernel], 0)));
}

void QuotaGate::find_next() {
  spent_at_ = kNever;
  for (std::uint32_t m = with_quota_ & ~closed_; m != 0; m &= m - 1)
    spent_at_ = std::min(spent_at_, spent_at(static_cast<std::uint8_t>(std::countr_zero(m))));
}

}  // namespace wm::sim
