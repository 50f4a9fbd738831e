// The timing of memory accesses: shared memory, the constant cache, and all others through the load/store unit.
//
// A load that misses is in flight under a number; `finish` says which warp it belongs to.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/global_port.h"
#include "gpu/gpu_config.h"
#include "sim/cycle/memory/tags.h"
#include "sim/cycle/sm/atomics_in_flight.h"
#include "sim/cycle/sm/coalesce.h"
#include "sim/cycle/sm/lsu.h"
#include "sim/cycle/sm/warp_slot.h"

namespace wm::sim {

class MemoryStage {
 public:
  struct Load {
    std::uint16_t warp = 0;                 // slot number
    const TimedOp* op = nullptr;            // none: context of a block that is moved
    exec::PendingAtomic* atomic = nullptr;  // none: it is not an atomic
    std::uint32_t copy_group = 0;           // group of an asynchronous copy
    std::uint32_t lanes = 0;                // thread instructions that complete with it
  };

  MemoryStage(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t sm);

  // The warp in slot `number` accesses memory at `now`. Returns the time at which its result can be used;
  // Scoreboard::kPending: it is in flight, and counted in the slot and its block.
  std::uint64_t access(WarpSlot& w, std::uint32_t number, const TimedOp& op, const exec::Step& step, std::uint64_t now,
                       SmCounters& counters);
  // The load is complete; its number is free for another.
  Load finish(std::uint32_t load);
  // Begins to move a block's context; its number is handed to `finish` like a load's.
  std::uint32_t move_context(MessageKind kind, std::uint64_t bytes, LineAddress place, std::uint8_t kernel);

  [[nodiscard]] Lsu& lsu() { return lsu_; }
  [[nodiscard]] const Lsu& lsu() const { return lsu_; }
  [[nodiscard]] AtomicsInFlight& atomics() { return atomics_; }
  [[nodiscard]] exec::GlobalPort& port() { return port_; }
  [[nodiscard]] const exec::GlobalPort& port() const { return port_; }

 private:
  [[nodiscard]] std::uint64_t read_constant(const WarpSlot& w, const exec::Access& a, std::uint64_t now);
  std::uint64_t access_global(WarpSlot& w, std::uint32_t number, const TimedOp& op, const exec::Step& step,
                              std::uint64_t now, SmCounters& counters);
  void coalesce_local(const WarpSlot& w, std::uint32_t number, const exec::Access& a, std::uint64_t space);
  void remember(std::uint32_t load, const Load& info);

  const gpu::GpuConfig& config_;
  std::uint16_t sm_;
  Lsu lsu_;
  Tags constant_cache_;
  AtomicsInFlight atomics_;
  exec::GlobalPort port_;
  std::vector<Load> loads_;  // by number
  Coalesced coalesced_;
};

}  // namespace wm::sim
