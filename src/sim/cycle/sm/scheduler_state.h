// The warps of one scheduler by state, and the times at which its units and its issue port are free.
//
// A warp that has not exited is in one of four states: ready (it has its operands), asleep in the wheel until they come
// at a known time, waiting for memory, or waiting at a barrier.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "components/warp_schedulers.h"
#include "gpu/gpu_config.h"
#include "sim/cycle/memory/partition.h"
#include "sim/cycle/sm/warp_choice.h"
#include "sim/cycle/sm/warp_slot.h"
#include "sim/cycle/sm/wheel.h"

namespace wm::sim {

// Whether the scheduler picks the warp that issued last whenever that can issue.
[[nodiscard]] inline bool is_greedy(const AnyWarpScheduler& scheduler) {
  return std::visit([](const auto& s) { return std::decay_t<decltype(s)>::kGreedy; }, scheduler);
}

struct alignas(64) SchedulerState {
  std::uint32_t units = 0;                    // bit: some warp's next instruction needs the unit
  std::uint32_t last = kNoWarp;               // the warp that issued last
  WarpMask ready = 0;                         // warps that have their operands
  std::array<WarpMask, gpu::kUnits> wants{};  // by unit: warps whose next instruction needs it, ready or not
  WarpMask memory = 0;                        // warps that wait for a load
  WarpMask barrier = 0;                       // warps that wait at a barrier
  WarpMask all = 0;                           // warps that have not exited
  WarpMask far = 0;              // warps that slept for longer than the wheel reaches and have not woken since
  WarpMask fetching = 0;         // warps that sleep, or last slept, until their code came
  std::uint64_t port = 0;        // the cycle from which it may issue its next instruction
  std::uint64_t now = 0;         // cycles before this one are accounted for
  std::uint64_t units_free = 0;  // when all units but the load/store unit take another warp
  std::array<std::uint64_t, gpu::kUnits> free{};  // by unit: when it takes another warp
  std::array<std::uint8_t, kMaxWarps> kernel{};   // by warp
  Wheel wheel;                                    // warps that sleep
  std::array<WarpMask, kMaxKernels> kernels{};    // by kernel: its warps
  std::array<WarpMask, kMaxWarps> older{};        // by warp: warps that came before it (and some that are gone)
  AnyWarpScheduler order = make_warp_scheduler("gto");

  // The warp, by its number here, joins the others at `now`.
  void add(std::uint32_t warp, std::uint8_t kernel_index, std::uint64_t at);
  void remove(const WarpSlot& w) {
    all &= ~w.bit;
    kernels[w.kernel] &= ~w.bit;
  }
  // A unit takes no other warp before `until`.
  void occupy(std::size_t unit, std::uint64_t until) {
    free[unit] = until;
    if (unit != static_cast<std::size_t>(gpu::Unit::load_store)) units_free = std::max(units_free, until);
  }
  // Removes the warp from the set of its state.
  void leave(const WarpSlot& w);

  // The next instruction of `w` needs that unit.
  void want(WarpSlot& w, gpu::Unit unit) {
    const auto before = static_cast<std::size_t>(w.unit);
    const auto after = static_cast<std::size_t>(unit);
    const WarpMask others = wants[before] & ~w.bit;
    wants[before] = others;
    wants[after] |= w.bit;
    units = (units & ~(static_cast<std::uint32_t>(others == 0) << before)) | 1U << after;
    w.unit = unit;
  }
  // The warp sleeps until `w.due`; returns when it wakes, which may be earlier.
  std::uint64_t sleep(const WarpSlot& w, std::uint64_t at) {
    const std::uint64_t wakes = wheel.sleep(w.bit, static_cast<std::size_t>(w.unit), w.due, at);
    if (wakes != w.due) far |= w.bit;
    return wakes;
  }
  // Warps of the kernels in `closed`.
  [[nodiscard]] WarpMask warps_of(std::uint32_t closed) const {
    WarpMask mask = 0;
    for (std::uint32_t m = closed; m != 0; m &= m - 1) mask |= kernels[static_cast<std::size_t>(std::countr_zero(m))];
    return mask;
  }
  [[nodiscard]] std::uint32_t pick(WarpMask candidates) {
    const WarpChoice choice{candidates, last, older};
    return std::visit([&](auto& scheduler) { return scheduler.pick(choice); }, order);
  }
};

}  // namespace wm::sim
