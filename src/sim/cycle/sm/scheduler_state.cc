#include "sim/cycle/sm/scheduler_state.h"

namespace wm::sim {

void SchedulerState::add(std::uint32_t warp, std::uint8_t kernel_index, std::uint64_t at) {
  const WarpMask bit = WarpMask{1} << warp;
  if (all == 0) now = at;
  for (WarpMask& mask : older) mask &= ~bit;
  older[warp] = all;
  all |= bit;
  kernels[kernel_index] |= bit;
  kernel[warp] = kernel_index;
}

void SchedulerState::leave(const WarpSlot& w) {
  switch (w.state) {
    case WarpState::waiting:
      ready &= ~w.bit;
      wheel.forget(w.bit);
      break;
    case WarpState::memory:
      memory &= ~w.bit;
      break;
    case WarpState::barrier:
      barrier &= ~w.bit;
      break;
    case WarpState::empty:
    case WarpState::done:
      break;
  }
}

}  // namespace wm::sim
