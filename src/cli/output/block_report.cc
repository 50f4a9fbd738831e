#include "cli/output/block_report.h"

#include <cmath>
#include <fmt/format.h>
#include <sys/resource.h>

#include "base/json.h"
#include "cli/output/table.h"
#include "lab/run/code_version.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<gpu::Progress> progress_of(const lab::BlockRunResult& r) {
  std::vector<gpu::Progress> all;
  for (const lab::BlockProcessResult& p : r.processes) all.push_back(p.progress);
  return all;
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json process_json(const lab::BlockRunResult& r, const lab::BlockProcessResult& p, std::size_t client) {
  const double us = 1e6 / static_cast<double>(r.clock.count);
  return {{"name", p.name},
          {"client", client},
          {"process", p.process},
          {"priority", p.priority},
          {"instructions", p.counts.instructions},
          {"warp_instructions", p.counts.instructions / 32},
          {"cycles", r.cycles},
          {"ipc", p.ipc},
          {"ipc_alone", p.isolated_ipc},
          {"normalized", p.progress.normalized},
          {"goal", p.goal ? Json(*p.goal) : Json(nullptr)},
          {"reached", p.goal ? Json(*p.reached()) : Json(nullptr)},
          {"runs_done", p.counts.turnarounds.size()},
          {"turnaround_us", p.turnaround * us},
          {"turnaround_alone_us", p.isolated_turnaround * us},
          {"blocks_done", p.counts.blocks},
          {"launches_done", p.counts.launches},
          {"preemptions", p.counts.preemptions},
          {"verified", nullptr}};
}

// Requests of a class a second of the time that was asked for.
double per_second(const lab::BlockRunResult& r, std::uint64_t requests) {
  return static_cast<double>(requests) * static_cast<double>(r.clock.count) /
         static_cast<double>(std::max<std::uint64_t>(1, r.window));
}

// A class that has completed no request has no latency.
std::string latency_text(const lab::ServiceClass& c, std::uint64_t cycles, double us) {
  return c.requests == 0 ? "-" : fmt::format("{:.1f} us", static_cast<double>(cycles) * us);
}
Json latency_json(const lab::ServiceClass& c, std::uint64_t cycles, double us) {
  return c.requests == 0 ? Json() : Json(static_cast<double>(cycles) * us);
}

std::string classes_text(const lab::BlockRunResult& r) {
  if (r.classes.empty()) return {};
  Table table({"class", "arrived", "requests", "p50", "p99", "on time", "goodput"});
  const double us = 1e6 / static_cast<double>(r.clock.count);
  for (const lab::ServiceClass& c : r.classes)
    table.add({Cell(c.name, Style::bold), grouped(c.arrived), grouped(c.requests), latency_text(c, c.p50, us),
               latency_text(c, c.p99, us), grouped(c.on_time), fmt::format("{:.1f}/s", per_second(r, c.on_time))});
  return table.to_string() + "\n";
}

Json classes_json(const lab::BlockRunResult& r) {
  const double us = 1e6 / static_cast<double>(r.clock.count);
  Json all = Json::array();
  for (const lab::ServiceClass& c : r.classes)
    all.push_back({{"name", c.name},
                   {"arrived", c.arrived},
                   {"requests", c.requests},
                   {"on_time", c.on_time},
                   {"p50_us", latency_json(c, c.p50, us)},
                   {"p99_us", latency_json(c, c.p99, us)},
                   {"goodput_per_second", per_second(r, c.on_time)}});
  return all;
}

}  // namespace

std::string text_of(const lab::BlockRunResult& r) {
  Table table(
      {"process", "priority", "runs", "turnaround", "isolated", "normalized", "launches", "blocks", "preempted"});
  const double ms = 1e3 / static_cast<double>(r.clock.count);
  for (const lab::BlockProcessResult& p : r.processes)
    table.add({Cell(p.name, Style::bold), std::to_string(p.priority), grouped(p.counts.turnarounds.size()),
               p.turnaround > 0 ? fmt::format("{:.3f} ms", p.turnaround * ms) : "",
               fmt::format("{:.3f} ms", p.isolated_turnaround * ms), fmt::format("{:.3f}", p.progress.normalized),
               grouped(p.counts.launches), grouped(p.counts.blocks), grouped(p.counts.preemptions)});
  const auto progress = progress_of(r);
  return fmt::format(
      "{} under {}, {:.3f} ms\n\n{}\n{}STP {:.3f}   ANTT {:.3f}   fairness {:.3f}\n{} blocks in {} ({}/s)\n", r.system,
      r.policy, static_cast<double>(r.cycles) * ms, table.to_string(), classes_text(r), gpu::stp(progress),
      gpu::antt(progress), gpu::fairness(progress), scaled(static_cast<double>(r.blocks)), duration(r.seconds),
      scaled(static_cast<double>(r.blocks) / std::max(1e-9, r.seconds)));
}

// The overlap of processes that have completed one run of one launch: the time between launches of a process is none of
// its executions, and an execution that has not ended has no interval.
Json overlap_of(const lab::BlockRunResult& r) {
  std::vector<gpu::Interval> intervals;
  for (const lab::BlockProcessResult& p : r.processes) {
    if (p.counts.launches != 1 || p.counts.turnarounds.size() != 1) return nullptr;
    intervals.push_back(p.counts.gpu);
  }
  return gpu::overlap(intervals);
}

Json json_of(const lab::BlockRunResult& r) {
  Json kernels = Json::array();
  double ipc = 0;
  for (std::size_t i = 0; i < r.processes.size(); ++i) {
    kernels.push_back(process_json(r, r.processes[i], i));
    ipc += r.processes[i].ipc;
  }
  const auto progress = progress_of(r);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double seconds = std::max(1e-9, r.seconds);
  const std::string policy = r.policy.substr(0, r.policy.find(':'));
  Json document = {{"schema", 1},
                   {"gpu", r.system},
                   {"machine", "block"},
                   {"sms", r.sms},
                   {"code_version", lab::code_version(policy, "block")},
                   {"policy", policy},
                   {"parameters", r.policy},
                   {"cycles", r.cycles},
                   {"seed", r.seed},
                   {"run_hash", fmt::format("{:016x}", r.run_hash)},
                   {"kernels", kernels},
                   {"metrics",
                    {{"stp", gpu::stp(progress)},
                     {"antt", finite(gpu::antt(progress))},
                     {"fairness", gpu::fairness(progress)},
                     {"unfairness", finite(gpu::unfairness(progress))},
                     {"worst_ntt", finite(gpu::worst_ntt(progress))},
                     {"overlap", overlap_of(r)},
                     {"ipc", ipc}}},
                   {"power", {{"watts", nullptr}, {"joules", nullptr}, {"instructions_per_joule", nullptr}}},
                   {"host",
                    {{"seconds", r.seconds},
                     {"block_completions_per_second", static_cast<double>(r.blocks) / seconds},
                     {"gpu_cycles_per_second", static_cast<double>(r.cycles) / seconds},
                     {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024},
                     {"threads", 1}}}};
  if (!r.classes.empty()) document["classes"] = classes_json(r);
  return document;
}

}  // namespace wm::cli
