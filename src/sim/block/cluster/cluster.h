// A node or a cluster of GPUs at the grain of launches, for days of simulated time.
//
// Requests of services arrive by themselves. A placement rule assigns each to a GPU with room, or it waits behind the
// earlier requests of its service. The requests on a GPU share it by the contention model of the block machine: where
// their demands add up to U > 1, each works at 1/U of its rate. Placed requests never move.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/block/calendar.h"
#include "sim/block/cluster/latency_histogram.h"
#include "sim/block/cluster/placement.h"

namespace wm::sim {

// Work in 1/65536 of a cycle. 64 bits would hold 39 hours of a GPU with a clock of 2 GHz.
__extension__ using Work = unsigned __int128;

struct ClusterSpec {
  std::uint32_t gpus = 1;
  std::uint32_t limit = kWholeGpu;  // sum of the demands that a GPU takes, in 1/65536
  // Requests that may wait at a time. A cluster that cannot keep up would fill the host's memory with them.
  std::uint64_t max_waiting = 100'000'000;
};

struct ServiceResult {
  LatencyHistogram latencies;  // cycles from arrival to end
  std::uint64_t arrived = 0;
  std::uint64_t on_time = 0;  // ended within the deadline
};

class Cluster {
 public:
  // The placement must outlive the cluster. A service's demand is at most the limit.
  Cluster(const ClusterSpec& spec, Placement& placement, std::vector<Service> services);

  // Runs until `end`, or until no request is left. `progress` is called now and then with the time reached. An error:
  // more requests wait than the specification allows.
  Result<void> run(Cycles end, const std::function<void(Cycles)>& progress = {});

  [[nodiscard]] const ServiceResult& result(std::uint32_t service) const { return results_[service]; }
  [[nodiscard]] const std::vector<Service>& services() const { return services_; }
  // The part of all GPUs that was at work, over the time that was run.
  [[nodiscard]] double utilization() const;
  [[nodiscard]] std::uint64_t waiting() const { return waiting_count_; }
  [[nodiscard]] Cycles now() const { return now_; }

 private:
  struct Request {
    Work end = 0;  // in its GPU's clock of work
    std::uint64_t arrived = 0;
    std::uint32_t service = 0;
  };
  struct Gpu {
    Work clock = 0;  // work of a request with the GPU to itself
    std::uint64_t since = 0;
    std::uint64_t rate = kWholeGpu;
    std::uint64_t demand = 0;       // sum over its requests
    std::vector<Request> requests;  // a heap, the earliest end first
  };

  void arrive(std::uint32_t service);
  bool place(std::uint32_t service, std::uint64_t arrived);
  void end_requests(std::uint32_t gpu);
  void wait(std::uint32_t service);
  void place_waiting();
  void change_demand(std::uint32_t gpu, std::int64_t by);
  void schedule(std::uint32_t gpu);

  std::vector<Service> services_;
  Placement& placement_;
  GpuPool pool_;
  std::vector<Gpu> gpus_;
  Calendar calendar_;                                                // next end by GPU
  Calendar arrivals_;                                                // next arrival by service
  std::vector<std::deque<std::uint64_t>> waiting_;                   // arrivals of requests that wait, by service
  std::set<std::pair<std::uint64_t, std::uint32_t>> first_waiting_;  // the first of each service that has any
  std::uint64_t max_waiting_;
  std::uint64_t waiting_count_ = 0;  // requests that wait, of all services
  std::vector<ServiceResult> results_;
  Cycles now_;
  double busy_ = 0;  // GPU cycles at work
};

}  // namespace wm::sim
