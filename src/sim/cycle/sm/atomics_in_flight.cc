#include "sim/cycle/sm/atomics_in_flight.h"

#include <bit>

#include "sim/cycle/memory/message.h"

namespace wm::sim {

std::uint16_t& AtomicsInFlight::lanes_of(std::uint64_t address) {
  return lanes_[address / kLineBytes * 0x9e3779b97f4a7c15ULL >> 56];
}

void AtomicsInFlight::track(const exec::PendingAtomic& atomic, int by) {
  for (exec::Mask m = atomic.lanes; m != 0; m &= m - 1) {
    auto& lanes = lanes_of(atomic.address[static_cast<std::size_t>(std::countr_zero(m))]);
    lanes = static_cast<std::uint16_t>(lanes + by);
  }
}

void AtomicsInFlight::add(const exec::PendingAtomic& atomic) {
  ++count_;
  track(atomic, 1);
}

void AtomicsInFlight::remove(const exec::PendingAtomic& atomic) {
  --count_;
  track(atomic, -1);
}

bool AtomicsInFlight::conflicts(exec::Warp& warp) {
  if (!warp.peek(next_access_)) return false;
  if (next_access_.space == ptx::Space::shared || next_access_.space == ptx::Space::local) return false;
  for (exec::Mask m = next_access_.lanes; m != 0; m &= m - 1)
    if (lanes_of(next_access_.address[static_cast<std::size_t>(std::countr_zero(m))]) != 0) return true;
  return false;
}

}  // namespace wm::sim
