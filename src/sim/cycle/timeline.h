// A recording of a run: the SM and times of each block, the states of the SMs, and the counters of each kernel in every
// interval. It is an Observer; times are in cycles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policy/machine.h"
#include "sim/cycle/memory/partition.h"
#include "sim/cycle/observer.h"
#include "sim/cycle/sm/counters.h"

namespace wm::sim {

struct BlockSpan {
  SeenBlock block;
  std::uint32_t row = 0;  // row of the block in a picture of the SM: no two blocks share one at a time
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool resumed = false;
  Left how = Left::running;
};

// An SM in one state under one owner.
struct SmSpan {
  std::uint32_t sm = 0;
  policy::Sm::State state = policy::Sm::State::on;
  policy::KernelId owner = policy::kNoKernel;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The counts of one kernel in an interval, and its state at the end.
struct KernelInterval {
  SmCounters sm;
  PartitionCounters memory;
  std::uint32_t resident = 0;         // blocks
  std::optional<std::int64_t> quota;  // thread instructions left, over the SMs that limit it
};

struct Interval {
  std::uint64_t begin = 0;
  std::uint64_t cycles = 0;
  std::uint64_t gated = 0;  // cycles SMs were switched off, summed over SMs
  std::vector<KernelInterval> kernels;
};

class Timeline final : public Observer {
 public:
  // Intervals end with the first quantum that reaches `interval` cycles; they are longer where nothing happened.
  explicit Timeline(std::uint64_t interval) : length_(interval) {}

  void began(const SeenBlock& block, std::uint64_t at, bool resumed) override;
  void left(const SeenBlock& block, std::uint64_t at, Left how) override;
  void quantum(const CycleMachine& machine) override;
  // Closes open intervals; nothing is recorded after it.
  void finish(const CycleMachine& machine);
  // The same for a machine that counts thread instructions only, in `intervals`.
  void finish(std::uint64_t end, std::vector<Interval> intervals);

  // In the order in which they ended, SMs' spans in the order in which they began.
  [[nodiscard]] const std::vector<BlockSpan>& blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<SmSpan>& sms() const { return sms_; }
  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
  [[nodiscard]] std::uint64_t cycles() const { return end_; }
  // Whether intervals count more than thread instructions.
  [[nodiscard]] bool has_counters() const { return has_counters_; }
  [[nodiscard]] std::uint32_t sm_count() const { return static_cast<std::uint32_t>(current_.size()); }

 private:
  void watch_sms(const CycleMachine& machine);
  void close_interval(const CycleMachine& machine);
  void close_blocks();

  std::uint64_t length_;
  std::uint64_t end_ = 0;
  bool has_counters_ = true;
  std::vector<BlockSpan> blocks_;
  std::vector<std::vector<BlockSpan>> open_;  // by SM
  std::vector<std::vector<bool>> rows_;       // by SM: rows in use
  std::vector<SmSpan> sms_;
  std::vector<std::size_t> current_;  // by SM: its last span
  std::vector<Interval> intervals_;
  std::uint64_t began_ = 0;           // start of the current interval
  std::uint64_t gated_ = 0;           // gated cycles until then
  std::vector<KernelInterval> base_;  // by client: counters until then
};

}  // namespace wm::sim
