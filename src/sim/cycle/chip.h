// The chip: SMs and memory partitions, joined by the interconnect, advanced a quantum at a time.
//
// A quantum is as long as the interconnect's latency: what an SM sends in one reaches a partition in a later one. So in
// a quantum first all SMs run on their own, then all partitions, on as many threads as there are, and the result is the
// same for any number. Stores become visible to other SMs, and messages change hands, in between, in an order that
// depends on times and numbers alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gpu/gpu_config.h"
#include "sim/cycle/crew.h"
#include "sim/cycle/memory/partition.h"
#include "sim/cycle/noc/mesh.h"
#include "sim/cycle/sm/sm.h"

namespace wm::sim {

class Chip {
 public:
  Chip(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint32_t threads);

  // Simulates the quantum from `now` and hands messages over; returns its end, the new `now`.
  std::uint64_t run_quantum();
  // Passes over quanta in which nothing happens before `limit`.
  void skip_idle(std::uint64_t limit);

  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] std::uint64_t quantum() const { return quantum_; }
  // The next cycle at which an SM or partition has something to do; ~0: all is quiet.
  [[nodiscard]] std::uint64_t next_event() const;

  [[nodiscard]] std::uint32_t sm_count() const { return static_cast<std::uint32_t>(sms_.size()); }
  [[nodiscard]] Sm& sm(std::uint32_t i) { return *sms_[i]; }
  [[nodiscard]] Partition& partition(std::uint32_t i) { return *partitions_[i]; }
  [[nodiscard]] std::uint32_t partition_count() const { return static_cast<std::uint32_t>(partitions_.size()); }

 private:
  void exchange();
  void cross_mesh();

  const gpu::GpuConfig& config_;
  AddressMap map_;
  Crew crew_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::vector<std::vector<Message>> replies_;  // by partition
  std::optional<Mesh> requests_mesh_;          // where the topology is one; a crossbar has only its ports
  std::optional<Mesh> replies_mesh_;
  std::uint64_t now_ = 0;
  std::uint64_t quantum_;
};

}  // namespace wm::sim
