// Multiprogrammed workloads: applications as processes beside each other, replayed until each has completed its runs
// (ISCA 2014, section 4.1).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/metrics.h"
#include "policy/registry.h"
#include "sim/block/system.h"

namespace wm::sim {

struct WorkloadProcess {
  std::string app;
  int priority = 0;
};
using Workload = std::vector<WorkloadProcess>;

// `count` workloads of so many processes. The first process runs through the applications in turn, so that each is
// first equally often, and has the priority given; the others are drawn at random.
std::vector<Workload> random_workloads(const std::vector<std::string>& apps, std::uint32_t processes,
                                       std::uint32_t count, int first_priority, std::uint64_t seed);

struct WorkloadResult {
  std::vector<ProcessResult> processes;
  std::vector<gpu::Progress> progress;  // by process: isolated turnaround over turnaround here
  std::uint64_t cycles = 0;
  std::uint64_t blocks = 0;
};

// Runs workloads on one system; binds applications and measures their isolated turnarounds once.
class WorkloadRunner {
 public:
  WorkloadRunner(SystemConfig config, std::string app_folder)
      : config_(std::move(config)), app_folder_(std::move(app_folder)) {}

  // `runs`: completed by every process; the mean of its completed runs counts.
  Result<WorkloadResult> run(const Workload& workload, const policy::Choice& policy, std::uint32_t runs,
                             std::uint64_t seed);
  // Mean cycles of a run of the application with the system to itself, first come, first served.
  Result<double> isolated_turnaround(const std::string& app);
  Result<std::shared_ptr<const BoundApp>> app(const std::string& name);
  [[nodiscard]] const SystemConfig& config() const { return config_; }

 private:
  Result<std::unique_ptr<policy::Policy>> make(const policy::Choice& policy) const;

  SystemConfig config_;
  std::string app_folder_;
  std::map<std::string, std::shared_ptr<const BoundApp>> apps_;
  std::map<std::string, double> isolated_;
};

}  // namespace wm::sim
