#include "exec/mbarrier.h"

namespace wm::exec {

Mbarrier Mbarrier::initial(std::uint32_t count) {
  Mbarrier b(0);
  b.set(count, count, 0, 0);
  return b;
}

void Mbarrier::set(std::uint32_t pending, std::uint32_t expected, std::int64_t bytes, std::uint32_t phase) {
  constexpr std::uint64_t kBytesMask = (1U << 21) - 1;
  word_ = std::uint64_t{pending} | std::uint64_t{expected} << 20 |
          (static_cast<std::uint64_t>(bytes) & kBytesMask) << 40 | std::uint64_t{phase} << 61;
}

void Mbarrier::end_phase() {
  if (pending() == 0 && bytes() == 0) set(expected(), expected(), 0, (phase() + 1) & 7U);
}

bool Mbarrier::arrive(std::uint32_t count) {
  if (count > pending()) return false;
  set(pending() - count, expected(), bytes(), phase());
  end_phase();
  return true;
}

bool Mbarrier::drop(std::uint32_t count) {
  if (count > expected()) return false;
  set(pending(), expected() - count, bytes(), phase());
  return arrive(count);
}

bool Mbarrier::count_bytes(std::int64_t by) {
  constexpr std::int64_t kMaxBytes = (1 << 20) - 1;
  const std::int64_t sum = bytes() + by;
  if (sum > kMaxBytes || sum < -kMaxBytes) return false;
  set(pending(), expected(), sum, phase());
  return true;
}

bool Mbarrier::complete(std::uint32_t bytes) {
  if (!count_bytes(-std::int64_t{bytes})) return false;
  end_phase();
  return true;
}

}  // namespace wm::exec
