// One memory channel with its L2 slices: it takes requests in order of arrival and sends replies with their times.
//
// It runs one quantum (`run(until)`) independently of other units, after all messages that reach it before `until` were
// received. Replies carry the time they reach their SM. A slice handles one request after the other; a miss that finds
// no MSHR or no place in the DRAM queue holds up those behind it, and with them, through the SMs' bounded requests in
// flight, the senders.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "gpu/gpu_config.h"
#include "sim/cycle/dram/controller.h"
#include "sim/cycle/memory/address_map.h"
#include "sim/cycle/memory/message.h"
#include "sim/cycle/memory/mshrs.h"
#include "sim/cycle/memory/timing.h"

namespace wm::sim {

inline constexpr std::uint32_t kMaxKernels = 16;  // resident at once, with counters of their own

struct PartitionCounters {
  std::uint64_t l2_sectors = 0;
  std::uint64_t l2_misses = 0;  // sectors
  // Reads and writes of lines of which L2 has nothing and expects nothing: the misses of a cache without sectors.
  std::uint64_t l2_line_misses = 0;
  std::uint64_t dram_read_sectors = 0;
  std::uint64_t dram_write_sectors = 0;
  std::uint64_t dram_accesses = 0;  // reads and writes of the channel, a line or less; in totals only
  std::uint64_t dram_activates = 0;
  std::uint64_t atomics = 0;  // lanes
};

class Partition {
 public:
  Partition(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint32_t channel);

  // Receives a message, in any order, before the quantum in which it arrives.
  void receive(const Message& message) {
    inbox_.push_back(message);
    expect(message.time);
  }
  // A message that arrives then will be received before the next quantum runs.
  void expect(std::uint64_t time) { next_ = std::min(next_, time); }

  // Handles everything up to `until`; `replies` is appended to, ordered by send time per slice.
  void run(std::uint64_t until, std::vector<Message>& replies);

  // The next cycle at which there is something to do; ~0 when nothing waits.
  [[nodiscard]] std::uint64_t next_event() const { return next_; }
  [[nodiscard]] const PartitionCounters& counters(std::uint32_t kernel) const { return counters_[kernel]; }
  [[nodiscard]] std::uint64_t busy_clocks() const { return dram_.channel().busy_clocks(); }
  [[nodiscard]] const DramController::Use& dram_use(std::uint32_t kernel) const { return dram_.use(kernel); }

 private:
  struct Slice {
    Slice(const TagSpec& tags, const MshrSpec& mshrs) : tags(tags), mshrs(mshrs) {}
    Tags tags;
    Mshrs mshrs;
    std::deque<Message> queue;  // by arrival
    std::uint64_t free_at = 0;  // time at which it takes its next request
    std::uint64_t reply_free = 0;
    bool stalled = false;     // until a fill frees an entry
    std::uint32_t begun = 0;  // bytes of the next cycle that are in use

    // The cycles that `bytes` take of it from `start` on.
    std::uint32_t passes(std::uint32_t bytes, std::uint32_t per_cycle, std::uint64_t start);
  };
  struct Pending {  // a miss in flight, by token
    Message message;
    std::uint32_t next_free = 0;
  };

  void sort_inbox(std::uint64_t until);
  [[nodiscard]] std::uint64_t start_of(const Slice& slice) const;
  // Whether the DRAM has a command before the cycle: dram_next_ < to_dram(cycle), without its division.
  [[nodiscard]] bool dram_due(std::uint64_t cycle) const {
    return dram_next_ != ~std::uint64_t{0} && dram_next_ * sm_mhz_ < cycle * dram_mhz_;
  }
  void run_dram(std::uint64_t horizon);
  void serve(Slice& slice, std::uint64_t start, std::vector<Message>& replies);
  bool serve_read(Slice& slice, const Message& m, std::uint64_t start, std::vector<Message>& replies);
  bool serve_write(Slice& slice, const Message& m, std::uint64_t start, std::vector<Message>& replies);
  // Executes the atomic; returns the turns that its lanes take, summed over the sectors.
  static std::uint32_t apply(const Message& m);
  // The bytes whose time it takes the slice; called once it is taken.
  std::uint32_t bytes_of(Slice& slice, const Message& m) const;
  // An SM's half of the GPU.
  static std::uint32_t half_of(const Message& m) { return m.sm & 1U; }
  void note_reader(Slice& slice, const Message& m) const {
    if (shared_write_bytes_ != 0 && m.kind == MessageKind::read) slice.tags.read_by(half_of(m), m.line, m.sectors);
  }
  [[nodiscard]] bool has_stalled() const;
  void unstall(std::uint64_t at);
  void reply(Slice& slice, const Message& m, std::uint64_t ready, std::vector<Message>& replies);
  void fill(const DramDone& done, std::vector<Message>& replies);
  // Called after a line became dirty: writes back the oldest one above the limit.
  void clean(Slice& slice, const Message& m, std::uint64_t at);
  void write_back(LineAddress line, Sectors sectors, std::uint8_t kernel, std::uint64_t at);
  std::uint32_t new_pending(const Message& m);
  void push_dram(LineAddress line, Sectors sectors, std::uint32_t token, bool write, std::uint64_t at,
                 std::uint8_t kernel);

  [[nodiscard]] std::uint64_t to_dram(std::uint64_t cycle) const { return (cycle * dram_mhz_ + sm_mhz_ - 1) / sm_mhz_; }
  [[nodiscard]] std::uint64_t to_sm(std::uint64_t clock) const { return (clock * sm_mhz_ + dram_mhz_ - 1) / dram_mhz_; }

  AddressMap map_;
  MemoryTiming timing_;
  std::uint64_t sm_mhz_;
  std::uint64_t dram_mhz_;
  std::uint32_t port_bytes_;
  std::uint32_t slice_bytes_;
  std::uint32_t partial_write_bytes_;
  bool fetches_pairs_;
  std::uint32_t shared_write_bytes_;
  std::uint32_t atomics_per_cycle_;
  std::uint32_t atomic_turn_bytes_;
  std::vector<Slice> slices_;
  DramController dram_;
  std::vector<Message> inbox_;
  std::deque<DramDone> done_;  // reads whose data is on the way to L2, each with the cycle of its arrival there
  std::uint64_t dram_next_ = ~std::uint64_t{0};  // clock of its next command
  std::vector<Pending> pending_;
  std::uint32_t free_pending_ = ~std::uint32_t{0};
  std::deque<DramRequest> late_writes_;  // write-backs the DRAM's queue had no room for yet
  std::uint64_t next_ = ~std::uint64_t{0};
  PartitionCounters counters_[kMaxKernels];
};

}  // namespace wm::sim
