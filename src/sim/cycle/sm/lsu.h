// The load/store unit of an SM: its L1, the requests in flight, and the loads that wait for them.
//
// An access is a list of lines (coalesce.h), looked up one after the other. A load whose lines are all present is done
// at a known time; otherwise it gets a number, and `replied` reports when the last of its lines has come. A line
// that finds no free MSHR, or a store above the limit of stores in flight, waits, and so do all later accesses: the
// unit is `blocked` until a reply frees an entry. Read-only loads have tags and MSHRs of their own where the GPU has a
// texture cache; the port to memory is one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "gpu/gpu_config.h"
#include "sim/cycle/memory/message.h"
#include "sim/cycle/memory/mshrs.h"
#include "sim/cycle/memory/partition.h"
#include "sim/cycle/memory/timing.h"
#include "sim/cycle/sm/coalesce.h"
#include "sim/cycle/sm/counters.h"
#include "sim/cycle/sm/tlb.h"

namespace wm::sim {

inline constexpr std::uint32_t kNoLoad = ~std::uint32_t{0};

class Lsu {
 public:
  Lsu(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t sm);

  struct Issued {
    std::uint64_t ready = 0;  // time at which its value is available; ~0: when `load` is reported done
    std::uint32_t load = kNoLoad;
  };
  struct Access {
    MessageKind kind = MessageKind::read;
    std::uint8_t kernel = 0;
    bool returns = false;           // a register waits for its result
    bool read_only = false;         // a load that may take the texture path
    std::uint32_t bank_cycles = 1;  // minimum cycles of the data array
    std::uint32_t lane_words = 1;   // words that a lane stores
    bool combined = false;          // an atomic whose lanes are added up first
    exec::PendingAtomic* atomic = nullptr;
  };
  // A load, store or atomic of `lines` at time `now`; needs !blocked().
  Issued access(const Access& access, const Coalesced& lines, std::uint64_t now, SmCounters& counters);

  // A shared-memory access of `cycles` cycles.
  Issued shared(std::uint32_t cycles, std::uint64_t now) {
    const std::uint64_t at = now > free_at_ ? now : free_at_;
    free_at_ = at + cycles;
    return {at + cycles - 1 + shared_latency_, kNoLoad};
  }

  // Begins to move `bytes` of context to memory (write) or back; reported done like a load. It is sent in
  // parts, so that blocks that stay on the SM are not delayed behind it.
  std::uint32_t move(MessageKind kind, std::uint64_t bytes, LineAddress from, std::uint8_t kernel);
  void pump(std::uint64_t now, std::uint64_t cycles, SmCounters* counters_of_kernels);
  [[nodiscard]] bool moving() const { return !moves_.empty(); }

  // Receives a message from memory; appends the loads that it completes to `done` and returns the time of completion.
  std::uint64_t replied(const Message& reply, std::vector<std::uint32_t>& done, SmCounters* counters_of_kernels);
  // Called after replies: continues accesses that were blocked, at `now`. Appends loads that are complete to `done`.
  void resume(std::uint64_t now, SmCounters* counters_of_kernels, std::vector<std::uint32_t>& done);

  [[nodiscard]] bool blocked() const { return !waiting_.empty(); }
  // The kernel whose access is first in line; needs blocked().
  [[nodiscard]] std::uint8_t waiting_kernel() const { return waiting_.front().access.kernel; }
  // The time at which it accepts its next instruction.
  [[nodiscard]] std::uint64_t free_at() const { return free_at_ > kBacklog ? free_at_ - kBacklog : 0; }
  // Whether no message of the kernel is in flight or waiting: all its stores are visible to others.
  [[nodiscard]] bool quiet(std::uint8_t kernel) const {
    return in_flight_[kernel] == 0 &&
           std::none_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.access.kernel == kernel; });
  }

  // Requests to memory, each with the time it arrives there; the caller takes and clears them.
  std::vector<Message>& outbox() { return outbox_; }
  void release(std::uint32_t load);
  // Invalidates the client's lines in L1 (the client is their top byte), so that a launch sees earlier stores of
  // others.
  void forget(std::uint64_t client) {
    l1_.tags.forget(client);
    if (texture_.present) texture_.tags.forget(client);
  }

 private:
  static constexpr std::uint32_t kBacklog = 8;  // cycles of lookups that may queue up behind an instruction

  struct Load {
    std::uint32_t lines = 0;  // lines that have not arrived
    std::uint32_t next_free = 0;
  };
  struct Waiting {
    LineAccess line;
    std::uint32_t load = kNoLoad;
    Access access;
  };
  struct Cache {
    bool present;
    std::uint32_t latency;
    Tags tags;
    Mshrs mshrs;
  };
  struct Move {
    LineAddress next = 0;
    std::uint32_t lines = 0;
    std::uint32_t load = kNoLoad;
    MessageKind kind = MessageKind::write;
    std::uint8_t kernel = 0;
  };
  enum class LineState { present, coming, refused };

  LineState look_up(const LineAccess& line, const Access& access, std::uint32_t load, std::uint64_t at,
                    SmCounters& counters);
  LineState read(Cache& cache, const LineAccess& line, const Access& access, std::uint32_t load, std::uint64_t at,
                 SmCounters& counters);
  // Cycles that the way to the line's slice takes longer than to the near half of L2.
  [[nodiscard]] std::uint32_t distance(LineAddress line) const {
    return ((line ^ line >> 5 ^ line >> 11 ^ line >> 17 ^ sm_) & 1) != 0 ? far_latency_ : 0;
  }
  void send(LineAddress line, Sectors sectors, MessageKind kind, std::uint32_t token, std::uint8_t kernel,
            std::uint8_t lanes, std::uint64_t at, SmCounters& counters);
  std::uint32_t new_load();

  MemoryTiming timing_;
  std::uint32_t l1_bytes_;
  std::uint32_t lookups_;  // lines per cycle
  std::uint32_t shared_latency_;
  std::uint32_t port_bytes_;
  std::uint32_t stores_allowed_;
  gpu::StorePolicy store_policy_;
  std::uint16_t sm_;
  std::uint32_t far_latency_;
  Tlb tlb_;
  Cache l1_;
  Cache texture_;
  std::uint64_t free_at_ = 0;                           // lookup stage
  std::uint64_t port_free_ = 0;                         // port to memory
  std::uint64_t arrive_free_ = 0;                       // port from memory
  std::uint32_t stores_ = 0;                            // in flight
  std::array<std::uint32_t, kMaxKernels> in_flight_{};  // messages, by kernel
  std::vector<Load> loads_;
  std::uint32_t free_load_ = kNoLoad;
  std::vector<Waiting> waiting_;  // first in, first out; short
  std::vector<Move> moves_;
  std::vector<Message> outbox_;
};

}  // namespace wm::sim
