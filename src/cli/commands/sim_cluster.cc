#include "cli/commands/sim_cluster.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include "base/json.h"
#include "cli/input/data_folder.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "lab/run/block_apps.h"
#include "sim/block/cluster/cluster.h"
#include "sim/block/load_app.h"

namespace wm::cli {
namespace {

// An application as requests: the time of an isolated run, and the part of it in which a kernel is at work.
Result<sim::Service> service_of(const lab::KernelSpec& kernel, const lab::RunSpec& spec, lab::BlockApps& apps,
                                std::size_t index) {
  if (!kernel.application) return Error{fmt::format("'{}': a cluster runs applications (--app)", kernel.name)};
  if (kernel.requests.arrivals.empty())
    return Error{fmt::format("'{}': --gpus needs poisson, bursts or requests for every application", kernel.name)};
  const Hertz clock = apps.system().machine.clock;
  auto arrivals =
      sim::parse_arrivals(kernel.requests.arrivals, clock, sim::mix_bits(spec.seed + 0x10000 * (index + 1)));
  if (!arrivals) return arrivals.error();
  const auto app = apps.find(kernel, spec);
  if (!app) return app.error();
  sim::Service service;
  service.name = kernel.requests.service_class.empty() ? kernel.name : kernel.requests.service_class;
  service.work = {std::max<std::uint64_t>(1, static_cast<std::uint64_t>(app->turnaround))};
  service.demand = std::max(1U, static_cast<std::uint32_t>(std::lround(app->gpu_part * sim::kWholeGpu)));
  if (kernel.requests.deadline) service.deadline = {sim::to_cycles(*kernel.requests.deadline, clock)};
  service.arrivals = *std::move(arrivals);
  return service;
}

Result<void> check(const lab::RunSpec& spec, const ClusterOptions& o) {
  if (!(o.seconds > 0)) return Error{"--gpus needs --seconds, the simulated time"};
  if (spec.policy.name != lab::RunSpec{}.policy.name)
    return Error{"--gpus takes no --policy: requests on one GPU share it by their demands"};
  for (const lab::KernelSpec& k : spec.kernels) {
    lab::KernelSpec used;  // the settings that have an effect
    used.name = k.name;
    used.size = k.size;
    used.launches = k.requests.arrivals.empty() ? k.launches : 0;
    used.application = k.application;
    used.requests = k.requests;
    if (k != used)
      return Error{fmt::format(
          "'{}': with --gpus an application has poisson, bursts or requests, class and deadline only", k.name)};
  }
  return {};
}

// A request takes about half a microsecond of the host's time, so ten thousand million take an hour and a half.
Result<void> check_number(const std::vector<sim::Service>& services, Cycles end) {
  constexpr double kMaxRequests = 1e10;
  double expected = 0;
  for (const sim::Service& s : services) expected += s.arrivals.expected_before(end);
  if (expected <= kMaxRequests) return {};
  return Error{fmt::format("about {:.2g} requests would arrive; a cluster takes {:.0e} (lower --seconds or the rates)",
                           expected, kMaxRequests)};
}

// The services of one name: their requests together, and the means of their requests' times and demands.
struct ClassResult {
  std::string name;
  sim::ServiceResult requests;
  double work = 0;  // cycles, summed over the requests that arrived
  double demand = 0;
};

std::vector<ClassResult> classes_of(const sim::Cluster& cluster) {
  std::vector<ClassResult> classes;
  for (std::uint32_t i = 0; i < cluster.services().size(); ++i) {
    const sim::Service& s = cluster.services()[i];
    const sim::ServiceResult& r = cluster.result(i);
    auto at = std::find_if(classes.begin(), classes.end(), [&](const ClassResult& c) { return c.name == s.name; });
    if (at == classes.end()) at = classes.insert(at, ClassResult{s.name, {}, 0, 0});
    at->requests.latencies.add(r.latencies);
    at->requests.arrived += r.arrived;
    at->requests.on_time += r.on_time;
    at->work += static_cast<double>(s.work.count) * static_cast<double>(r.arrived);
    at->demand += static_cast<double>(s.demand) / sim::kWholeGpu * static_cast<double>(r.arrived);
  }
  return classes;
}

nlohmann::ordered_json json_of(const ClassResult& c, Hertz clock, double seconds) {
  const sim::ServiceResult& r = c.requests;
  const double us = 1e6 / static_cast<double>(clock.count);
  const double arrived = std::max(1.0, static_cast<double>(r.arrived));
  // A class that has completed no request has no latency.
  const auto latency = [&](double part) {
    using Json = nlohmann::ordered_json;
    return r.latencies.total() == 0 ? Json() : Json(static_cast<double>(r.latencies.percentile(part)) * us);
  };
  return {{"name", c.name},
          {"work_us", c.work / arrived * us},
          {"demand", c.demand / arrived},
          {"arrived", r.arrived},
          {"requests", r.latencies.total()},
          {"on_time", r.on_time},
          {"p50_us", latency(0.5)},
          {"p99_us", latency(0.99)},
          {"goodput_per_second", static_cast<double>(r.on_time) / seconds}};
}

}  // namespace

Result<int> run_cluster(const lab::RunSpec& spec, const ClusterOptions& o) {
  if (auto fits = check(spec, o); !fits) return fits.error();
  const auto rule = sim::make_placement(o.placement);
  if (!rule) return rule.error();
  auto system = sim::load_system(spec.gpu, system_folder(), gpu_folder());
  if (!system) return system.error();
  const Hertz clock = system->machine.clock;
  lab::BlockApps apps(*std::move(system), [](const lab::KernelSpec& k) { return sim::load_app(k.name, app_folder()); });
  std::vector<sim::Service> services;
  for (const lab::KernelSpec& k : spec.kernels) {
    auto service = service_of(k, spec, apps, services.size());
    if (!service) return service.error();
    services.push_back(*std::move(service));
  }
  const Cycles end{static_cast<std::uint64_t>(o.seconds * static_cast<double>(clock.count))};
  if (auto fits = check_number(services, end); !fits) return fits.error();
  const auto limit = static_cast<std::uint32_t>(std::lround(o.limit * sim::kWholeGpu));
  sim::Cluster cluster({.gpus = o.gpus, .limit = limit}, **rule, std::move(services));
  Progress bar(1);
  double shown = 0;
  const auto began = std::chrono::steady_clock::now();
  const auto ran = cluster.run(end, [&](Cycles now) {
    const double part = static_cast<double>(now.count) / static_cast<double>(end.count);
    bar.advance(part - shown, o.placement);
    shown = part;
  });
  if (!ran) return ran.error();
  const double host = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();

  Table table({"class", "requests", "isolated", "demand", "p50", "p99", "on time", "goodput"});
  auto classes = nlohmann::ordered_json::array();
  std::uint64_t requests = 0;
  for (const ClassResult& c : classes_of(cluster)) {
    auto j = json_of(c, clock, o.seconds);
    const auto ms = [&](const char* key) {
      return j[key].is_null() ? "-" : fmt::format("{:.3f} ms", j[key].get<double>() / 1000);
    };
    table.add({Cell(c.name, Style::bold), grouped(j["requests"].get<std::uint64_t>()), ms("work_us"),
               fmt::format("{:.2f}", j["demand"].get<double>()), ms("p50_us"), ms("p99_us"),
               grouped(j["on_time"].get<std::uint64_t>()),
               fmt::format("{:.1f}/s", j["goodput_per_second"].get<double>())});
    requests += c.requests.latencies.total();
    classes.push_back(std::move(j));
  }
  const Output output(o.json);
  output.say(fmt::format(
      "{} x {}, {}, {} s of simulated time\n\n{}\nGPUs at work {:.1f}%   waiting at the end {}\n{} requests "
      "in {} ({}/s)\n",
      o.gpus, spec.gpu, o.placement, o.seconds, table.to_string(), 100 * cluster.utilization(), cluster.waiting(),
      scaled(static_cast<double>(requests)), duration(host),
      scaled(static_cast<double>(requests) / std::max(1e-9, host))));
  if (o.json.empty()) return 0;
  if (auto done = output.document({{"schema", 1},
                                   {"gpu", spec.gpu},
                                   {"machine", "block"},
                                   {"gpus", o.gpus},
                                   {"placement", o.placement},
                                   {"seconds", o.seconds},
                                   {"seed", spec.seed},
                                   {"utilization", cluster.utilization()},
                                   {"waiting", cluster.waiting()},
                                   {"classes", classes},
                                   {"host", {{"seconds", host}}}});
      !done)
    return done.error();
  return 0;
}

}  // namespace wm::cli
