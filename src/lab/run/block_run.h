// One run on the block machine: applications and kernels as processes of a system, compared with isolated runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/metrics.h"
#include "lab/run/block_apps.h"
#include "lab/run/run_spec.h"
#include "policy/registry.h"
#include "sim/block/system.h"

namespace wm::lab {

struct BlockProcessResult {
  std::string name;
  int priority = 0;
  std::uint32_t process = 0;
  sim::ProcessResult counts;
  double turnaround = 0;           // cycles, mean of completed runs; 0: none was completed
  double isolated_turnaround = 0;  // the same in isolation
  double ipc = 0;
  double isolated_ipc = 0;
  std::optional<double> goal;  // ipc
  gpu::Progress progress;

  [[nodiscard]] std::optional<bool> reached() const { return goal ? std::optional<bool>(ipc >= *goal) : std::nullopt; }
};

// Requests of all applications of one class that have open arrivals.
struct ServiceClass {
  std::string name;
  std::uint64_t arrived = 0;   // by the end of the run
  std::uint64_t requests = 0;  // completed
  std::uint64_t on_time = 0;   // completed within their deadline; all where there is none
  std::uint64_t p50 = 0;       // cycles from arrival to completion
  std::uint64_t p99 = 0;
};

struct BlockRunResult {
  std::string system;
  std::string policy;  // with all its parameters
  Hertz clock;
  std::uint32_t sms = 0;
  std::uint64_t cycles = 0;
  std::uint64_t window = 0;  // cycles that were asked for, or `cycles`: a run ends earlier if no request is to come
  std::uint64_t seed = 0;
  std::uint64_t blocks = 0;
  std::vector<BlockProcessResult> processes;
  std::vector<ServiceClass> classes;  // by name
  double seconds = 0;                 // host time of the run
  std::uint64_t run_hash = 0;         // over everything that was counted: equal runs have equal hashes
};

// The processes are `spec.kernels`. The run ends when every process has completed `spec.runs` runs, after
// `spec.cycles`, or when all are done. Progress is the isolated turnaround over the turnaround here if runs are
// counted, else the rate here over the isolated rate. An observer, if given, is told of the run's events, and
// `decisions` is filled with the policy's events and actions.
Result<BlockRunResult> block_run(BlockApps& apps, const policy::Choice& policy, const RunSpec& spec,
                                 sim::SystemObserver* observer = nullptr, std::string* decisions = nullptr);

}  // namespace wm::lab
