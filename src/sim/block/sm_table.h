// The SMs of the block machine: the paper's SM Status Table (ISCA 2014, section 3.3) with the blocks on each SM, and
// which SM has the next event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/machine.h"
#include "sim/block/calendar.h"
#include "sim/block/sm_unit.h"

namespace wm::sim {

// A number that no other launch of the run has; 0 is none.
inline std::uint64_t launch_number(const policy::Kernel& kernel) {
  return (std::uint64_t{kernel.id.index} << 32) + kernel.launch + 1;
}

class SmTable {
 public:
  // The state of an SM that policies do not see.
  struct Entry {
    SmUnit unit;
    std::uint64_t available = 0;  // cycle from which blocks may work: a decision or the setup has to end first
    // The launch that the SM needs no setup for: the one that it was set up for or, where launches share the SM, the
    // one whose block left last.
    std::uint64_t set_up_for = 0;
    std::uint64_t wakes = kNoEvent;  // cycle at which it is on again
    std::uint64_t gated_since = 0;
    std::uint64_t gated_cycles = 0;
    bool idle_told = true;                  // SmIdle was told, or there was no reason to
    bool replacing = false;                 // a block that ends here is only replaced by its client's next one
    bool quiet = false;                     // ends of blocks here change nothing until the last one
    std::vector<std::uint64_t> retired;     // by client: instructions of blocks that ended or were stopped here
    std::vector<std::uint64_t> epoch_base;  // by client: instructions until the epoch began
    // Clients with blocks here at some time since the epoch began; the counters of the others are 0.
    std::vector<std::uint32_t> counted;
    std::vector<std::uint8_t> is_counted;  // by client
  };

  SmTable(std::uint32_t sms, const gpu::Resources& total, std::uint64_t bytes_per_cycle);

  void add_client();

  [[nodiscard]] std::span<const policy::Sm> views() const { return views_; }
  [[nodiscard]] policy::Sm& view(std::uint32_t sm) { return views_[sm]; }
  [[nodiscard]] std::span<const policy::ResidentKernel> residents(std::uint32_t sm) const { return residents_[sm]; }
  [[nodiscard]] policy::ResidentKernel& resident(std::uint32_t sm, std::uint32_t client) {
    return residents_[sm][client];
  }
  [[nodiscard]] Entry& operator[](std::uint32_t sm) { return entries_[sm]; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(entries_.size()); }

  // The number of blocks of the kernel that fit on the SM, at most `limit`.
  [[nodiscard]] std::uint32_t room_for(std::uint32_t limit, std::uint32_t sm, const policy::Kernel& kernel) const {
    const gpu::Resources& one = kernel.footprint;
    const gpu::Resources& free = views_[sm].free;
    const auto fits = [limit](std::uint32_t part, std::uint32_t room) { return std::uint64_t{part} * limit <= room; };
    const bool all = fits(one.threads, free.threads) && fits(one.registers, free.registers) &&
                     fits(one.shared_bytes, free.shared_bytes) && fits(one.blocks, free.blocks);
    return all ? limit : std::min(limit, gpu::fit(one, free));  // most often all fit, which takes no division
  }
  // Updates the tables for blocks that start on the SM, or leave it.
  void enter(std::uint32_t sm, const policy::Kernel& kernel, std::uint32_t blocks = 1);
  void leave(std::uint32_t sm, const policy::Kernel& kernel, std::uint32_t blocks = 1);
  // Sets the cycle of the SM's next event.
  void schedule(std::uint32_t sm, std::uint64_t at) { calendar_.set(sm, at); }
  [[nodiscard]] std::uint64_t event(std::uint32_t sm) const { return calendar_.time(sm); }
  [[nodiscard]] std::uint64_t next_event() const { return calendar_.earliest(); }
  [[nodiscard]] std::uint32_t next_sm() const { return calendar_.first(); }
  // Whether only one SM has its next event in that cycle.
  [[nodiscard]] bool next_is_single() const { return calendar_.earliest_is_single(); }
  // All SMs that have their next event in that cycle, by number.
  void find_simultaneous(std::vector<std::uint32_t>& sms) const { calendar_.find_earliest(sms); }

 private:
  std::vector<policy::Sm> views_;
  std::vector<std::vector<policy::ResidentKernel>> residents_;  // by SM, by client
  std::vector<Entry> entries_;
  Calendar calendar_;
};

}  // namespace wm::sim
