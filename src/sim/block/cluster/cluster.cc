#include "sim/block/cluster/cluster.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace wm::sim {
namespace {

constexpr std::uint64_t kNothing = ~std::uint64_t{0};
constexpr std::uint32_t kShift = 16;

// Whole cycles that the work takes at the rate; kNothing: more than 64 bits hold.
std::uint64_t cycles_of(Work work, std::uint64_t rate) {
  if (work < kNothing - rate) return (static_cast<std::uint64_t>(work) + rate - 1) / rate;  // the usual, faster case
  return static_cast<std::uint64_t>(std::min<Work>((work + rate - 1) / rate, kNothing));
}

}  // namespace

Cluster::Cluster(const ClusterSpec& spec, Placement& placement, std::vector<Service> services)
    : services_(std::move(services)),
      placement_(placement),
      pool_(spec.gpus, spec.limit),
      gpus_(spec.gpus),
      calendar_(spec.gpus),
      arrivals_(static_cast<std::uint32_t>(services_.size())),
      waiting_(services_.size()),
      max_waiting_(spec.max_waiting),
      results_(services_.size()) {
  placement_.begin(pool_, services_);
  for (std::uint32_t i = 0; i < services_.size(); ++i) {
    const auto first = services_[i].arrivals.next();
    arrivals_.set(i, first ? first->count : kNothing);
  }
}

Result<void> Cluster::run(Cycles end, const std::function<void(Cycles)>& progress) {
  for (std::uint64_t events = 0;; ++events) {
    const std::uint64_t next = std::min(calendar_.earliest(), arrivals_.earliest());
    if (next >= end.count) break;
    now_ = {next};
    // Requests that end make room for those that arrive in the same instant.
    if (calendar_.earliest() == next) {
      end_requests(calendar_.first());
      place_waiting();
    } else {
      arrive(arrivals_.first());
      if (waiting_count_ > max_waiting_)
        return Error{fmt::format("more than {} requests wait at cycle {}: the GPUs cannot serve so many", max_waiting_,
                                 now_.count)};
    }
    if (progress && (events & 0xfffffU) == 0) progress(now_);
  }
  if (end != kNever) now_ = end;
  for (std::uint32_t g = 0; g < gpus_.size(); ++g) change_demand(g, 0);  // brings `busy_` up to date
  return {};
}

void Cluster::arrive(std::uint32_t service) {
  Service& s = services_[service];
  ++results_[service].arrived;
  if (!waiting_[service].empty() || !place(service, now_.count)) wait(service);
  const auto next = s.arrivals.next();
  arrivals_.set(service, next ? next->count : kNothing);
}

bool Cluster::place(std::uint32_t service, std::uint64_t arrived) {
  const std::uint32_t gpu = placement_.choose(pool_, services_, service);
  if (gpu == kNoGpu) return false;
  const Service& s = services_[service];
  pool_.take(gpu, s.demand);
  change_demand(gpu, s.demand);
  Gpu& g = gpus_[gpu];
  g.requests.push_back({g.clock + (Work{s.work.count} << kShift), arrived, service});
  std::push_heap(g.requests.begin(), g.requests.end(),
                 [](const Request& a, const Request& b) { return a.end > b.end; });
  schedule(gpu);
  return true;
}

void Cluster::end_requests(std::uint32_t gpu) {
  Gpu& g = gpus_[gpu];
  change_demand(gpu, 0);
  while (!g.requests.empty() && g.requests.front().end <= g.clock) {
    std::pop_heap(g.requests.begin(), g.requests.end(),
                  [](const Request& a, const Request& b) { return a.end > b.end; });
    const Request r = g.requests.back();
    g.requests.pop_back();
    const Service& s = services_[r.service];
    pool_.give_back(gpu, s.demand);
    change_demand(gpu, -static_cast<std::int64_t>(s.demand));
    results_[r.service].latencies.add(now_.count - r.arrived);
    results_[r.service].on_time += now_.count - r.arrived <= s.deadline.count ? 1 : 0;
  }
  schedule(gpu);
}

void Cluster::wait(std::uint32_t service) {
  if (waiting_[service].empty()) first_waiting_.insert({now_.count, service});
  waiting_[service].push_back(now_.count);
  ++waiting_count_;
}

// The request that has waited longest is placed first; a service whose first request finds no room does not hold up
// the others.
void Cluster::place_waiting() {
  for (auto at = first_waiting_.begin(); at != first_waiting_.end();) {
    const auto [arrived, service] = *at;
    if (!place(service, arrived)) {
      ++at;
      continue;
    }
    std::deque<std::uint64_t>& queue = waiting_[service];
    queue.pop_front();
    --waiting_count_;
    at = first_waiting_.erase(at);
    if (queue.empty()) continue;
    // The service's next request arrived later, so its place is this one or behind it.
    const auto next = first_waiting_.insert({queue.front(), service}).first;
    if (at == first_waiting_.end() || *next < *at) at = next;
  }
}

// Brings the GPU's clock up to date and changes the demand on it.
void Cluster::change_demand(std::uint32_t gpu, std::int64_t by) {
  Gpu& g = gpus_[gpu];
  const std::uint64_t passed = now_.count - g.since;
  g.clock += Work{passed} * g.rate;
  busy_ += static_cast<double>(passed) * static_cast<double>(std::min<std::uint64_t>(g.demand, kWholeGpu)) / kWholeGpu;
  g.since = now_.count;
  if (by == 0) return;
  g.demand = static_cast<std::uint64_t>(static_cast<std::int64_t>(g.demand) + by);
  g.rate = g.demand <= kWholeGpu ? kWholeGpu : (std::uint64_t{kWholeGpu} << kShift) / g.demand;
}

void Cluster::schedule(std::uint32_t gpu) {
  const Gpu& g = gpus_[gpu];
  if (g.requests.empty()) return calendar_.set(gpu, kNothing);
  const Work end = g.requests.front().end;
  const std::uint64_t left = cycles_of(end > g.clock ? end - g.clock : 0, g.rate);
  calendar_.set(gpu, left < kNothing - g.since ? g.since + left : kNothing);
}

double Cluster::utilization() const {
  const double all = static_cast<double>(now_.count) * static_cast<double>(gpus_.size());
  return all > 0 ? busy_ / all : 0;
}

}  // namespace wm::sim
