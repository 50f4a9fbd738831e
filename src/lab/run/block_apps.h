// Applications bound to one system of the block machine, with the results of their isolated runs. Each is bound and run
// once, so that many co-runs of the same applications take the time of the co-runs only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "lab/run/run_spec.h"
#include "sim/block/system.h"

namespace wm::lab {

struct BlockApp {
  std::shared_ptr<const sim::BoundApp> bound;
  double turnaround = 0;  // cycles, in isolation
  double ipc = 0;         // in isolation
  double gpu_part = 0;    // part of the isolated time in which a launch is active
};

// The rule that ends a run of the specification.
sim::StopRule stop_rule(const RunSpec& spec);

class BlockApps {
 public:
  using Load = std::function<Result<sim::AppTrace>(const KernelSpec&)>;
  BlockApps(sim::SystemConfig system, Load load) : system_(std::move(system)), load_(std::move(load)) {}

  [[nodiscard]] const sim::SystemConfig& system() const { return system_; }
  // May be called from several threads; `load` then runs in one of them at a time. Isolated runs of specifications with
  // a number of cycles are as long as that, the others are one run of the application.
  Result<BlockApp> find(const KernelSpec& kernel, const RunSpec& spec);

 private:
  sim::SystemConfig system_;
  Load load_;
  std::mutex mutex_;
  std::map<std::string, BlockApp> known_;
};

}  // namespace wm::lab
