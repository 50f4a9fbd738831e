#include "sim/cycle/memory/atomic_turns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace wm::sim {

AtomicTurns atomic_turns(const exec::PendingAtomic& atomic, LineAddress line, bool combined) {
  const LineAddress place = line & ((LineAddress{1} << kClientShift) - 1);
  AtomicTurns result;
  std::array<std::uint8_t, kLineBytes / 4> lanes_on{};  // by word
  std::array<std::uint8_t, kLineBytes / kSectorBytes> turns{};
  for (exec::Mask lanes = atomic.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    if (atomic.address[lane] / kLineBytes != place) continue;
    result.lanes |= exec::Mask{1} << lane;
    const std::uint64_t offset = atomic.address[lane] % kLineBytes;
    std::uint8_t& sector = turns[offset / kSectorBytes];
    sector = std::max(sector, combined ? std::uint8_t{1} : ++lanes_on[offset / 4]);
  }
  result.turns = std::accumulate(turns.begin(), turns.end(), 0U);
  return result;
}

}  // namespace wm::sim
