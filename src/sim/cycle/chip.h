// The chip: SMs and memory partitions, joined by the interconnect, advanced by one quantum of time after the other.
//
// In a quantum first all SMs run independently, then all partitions, on any number of threads; the result does not
// depend on that number. Partitions are ahead of the SMs by a request's way to them (`ahead_`): by the end of a
// quantum they have handled every request that SMs sent in it. Their replies reach an SM no sooner than one
// round trip after the quantum began, so no quantum may be longer than that (`reach`): no message arrives late, and
// results of memory accesses do not depend on the length of quanta. Stores become visible to other SMs, and messages
// are exchanged, between quanta, in an order that depends only on times and indices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gpu/gpu_config.h"
#include "sim/cycle/host_threads.h"
#include "sim/cycle/memory/partition.h"
#include "sim/cycle/noc/exchange.h"
#include "sim/cycle/noc/mesh.h"
#include "sim/cycle/sm/sm.h"

namespace wm::sim {

class Chip {
 public:
  Chip(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint32_t threads);

  // Simulates `length` cycles from `now`, at most `reach`, and exchanges messages.
  void run(std::uint64_t length);
  // Continues at `limit` if nothing would happen before.
  void skip_idle(std::uint64_t limit);

  [[nodiscard]] std::uint64_t now() const { return now_; }
  // The longest quantum: the fastest round trip from an SM to L2 and back.
  [[nodiscard]] std::uint64_t reach() const { return reach_; }
  // The shortest useful quantum: one way over the interconnect.
  [[nodiscard]] std::uint64_t grain() const { return grain_; }
  // The next cycle at which an SM or partition has something to do; ~0: none has.
  [[nodiscard]] std::uint64_t next_event() const;

  [[nodiscard]] std::uint32_t sm_count() const { return static_cast<std::uint32_t>(sms_.size()); }
  // An SM that is handed out to be changed counts as one that has events.
  [[nodiscard]] Sm& sm(std::uint32_t i) {
    left_[i].has_events = true;
    return *sms_[i];
  }
  [[nodiscard]] const Sm& sm(std::uint32_t i) const { return *sms_[i]; }
  // False: the SM has nothing for the dispatcher to take (Sm::has_events).
  [[nodiscard]] bool has_events(std::uint32_t i) const { return left_[i].has_events; }
  [[nodiscard]] Partition& partition(std::uint32_t i) { return *partitions_[i]; }
  [[nodiscard]] std::uint32_t partition_count() const { return static_cast<std::uint32_t>(partitions_.size()); }

 private:
  // Puts the numbers of the units that have something to do before `until`, or messages to take, into busy_.
  template <typename Units>
  void find_busy(const Units& units, const Exchange& messages, std::uint64_t until);
  void run_sm(std::uint32_t i, std::uint64_t until);
  void run_partition(std::uint32_t i, std::uint64_t until);
  void publish_stores();
  void send_requests();
  void send_replies();

  // Whether an SM has left work for the thread between quanta when its own quantum ends. Each lies on a cache line of
  // its own: that thread need not read the lists of events and stores, which another thread has just written.
  struct alignas(64) Left {
    bool has_events = true;
    bool has_stores = true;
  };

  const gpu::GpuConfig& config_;
  AddressMap map_;
  HostThreads host_threads_;
  std::vector<std::uint32_t> busy_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<Left> left_;  // by SM
  std::vector<std::unique_ptr<Partition>> partitions_;
  Exchange requests_;                           // from SMs to partitions
  Exchange replies_;                            // from partitions to SMs
  std::vector<std::vector<Message>> outgoing_;  // by partition: replies of this quantum
  std::optional<Mesh> requests_mesh_;           // where the topology is one; a crossbar has only its ports
  std::optional<Mesh> replies_mesh_;
  std::uint64_t now_ = 0;
  std::uint64_t grain_;
  std::uint64_t ahead_;
  std::uint64_t reach_;
};

}  // namespace wm::sim
