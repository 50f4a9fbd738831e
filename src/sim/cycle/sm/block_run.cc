#include "sim/cycle/sm/block_run.h"

#include <algorithm>
#include <bit>

#include "sim/cycle/sm/coalesce.h"

namespace wm::sim {

void RunAheadBuffer::refill(exec::Warp& warp, std::uint32_t banks) {
  const auto note = [](const exec::Access& a, std::uint32_t count) {
    return std::bit_cast<std::uint32_t>(
        SharedNote{static_cast<std::uint16_t>(shared_cycles(a, count)),
                   static_cast<std::uint16_t>(exec::count_lanes(a.lanes) * std::max(1, a.bytes / 4))});
  };
  head_ = 0;
  count_ = static_cast<std::uint16_t>(warp.run_ahead(ops_.data(), kMaxOps, {note, banks}));
}

}  // namespace wm::sim
