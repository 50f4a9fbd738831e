#include "sim/cycle/sm/quota_gate.h"

namespace wm::sim {

void QuotaGate::set(std::uint8_t kernel, std::int64_t instructions) {
  const std::uint32_t bit = 1U << kernel;
  left_[kernel] = instructions;
  with_quota_ = instructions != kNoQuota ? with_quota_ | bit : with_quota_ & ~bit;
  closed_ = instructions <= 0 ? closed_ | bit : closed_ & ~bit;
}

}  // namespace wm::sim
