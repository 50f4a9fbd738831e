// wm bench share: benchmarks of the zoo as client processes of the daemon, under several policies, in the figures of
// accelOS (CGO 2016, section 7).
#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "base/json.h"
#include "base/random.h"
#include "cli/commands/command.h"
#include "cli/commands/share_report.h"
#include "cli/input/subject.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "gpu/metrics.h"
#include "kernels/benchmark.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kBaseline = "fifo";

struct BenchShareOptions {
  std::vector<std::string> names;
  std::vector<std::string> policies{"elastic_kernels", "accelos", "moving_shares"};
  std::vector<std::string> clients{"2", "4", "8"};
  std::uint64_t workloads = 6, rounds = 3, seed = 1;
  ShareSetup setup{.size = "medium", .device = "", .cache = ""};
  std::string json;
  bool unchecked = false;
};

using Workload = std::vector<std::string>;

// The results of one policy over all workloads.
struct PolicyResult {
  std::string policy;
  std::map<std::string, double> isolated;
  std::vector<ShareFigures> workloads;
};

Result<std::vector<std::string>> chosen(const BenchShareOptions& o) {
  std::vector<std::string> names;
  for (const std::string& name : o.names) {
    const auto entry = zoo::find(name);
    if (!entry) return entry.error();
    names.push_back((*entry)->benchmark.name);
  }
  if (!names.empty()) return names;
  for (const zoo::Entry& entry : zoo::entries()) {  // the paper's suite
    if (entry.benchmark.suite == "Parboil") names.push_back(entry.benchmark.name);
  }
  return names;
}

Result<std::vector<Workload>> workloads_of(const BenchShareOptions& o, const std::vector<std::string>& names) {
  std::vector<Workload> all;
  Random random(o.seed);
  for (const std::string& text : o.clients) {
    const auto count = std::strtoul(text.c_str(), nullptr, 10);
    if (count < 1 || count > 64) return Error{"--clients '" + text + "' is no number from 1 to 64"};
    for (std::uint64_t w = 0; w < o.workloads; ++w) {
      Workload workload;
      for (std::size_t i = 0; i < count; ++i) workload.push_back(names[random.below(names.size())]);
      all.push_back(std::move(workload));
    }
  }
  return all;
}

double median_seconds(const std::vector<std::vector<ShareRun>>& rounds) {
  std::vector<double> all;
  for (const auto& round : rounds) all.push_back(static_cast<double>(round[0].ended - round[0].began) * 1e-9);
  return median(std::move(all));
}

Result<std::vector<std::vector<ShareRun>>> rounds_of(ShareProcesses& processes, const Workload& workload,
                                                     std::uint64_t n) {
  std::vector<std::vector<ShareRun>> rounds;
  for (std::uint64_t i = 0; i < n; ++i) {
    auto round = processes.run(workload);
    if (!round) return round.error();
    rounds.push_back(*std::move(round));
  }
  return rounds;
}

Result<PolicyResult> measure(const BenchShareOptions& o, const std::string& policy,
                             const std::vector<Workload>& workloads, const std::map<std::string, double>* baseline,
                             Progress& progress) {
  PolicyResult result;
  result.policy = policy;
  const auto processes = ShareProcesses::start(o.setup, policy);
  if (!processes) return processes.error();
  for (const Workload& workload : workloads) {
    for (const std::string& name : workload) {
      if (result.isolated.contains(name)) continue;
      const auto rounds = rounds_of(**processes, {name}, std::max<std::uint64_t>(o.rounds, 5));
      if (!rounds) return Error{policy + ": " + rounds.error().what};
      result.isolated[name] = median_seconds(*rounds);
    }
  }
  for (const Workload& workload : workloads) {
    auto rounds = rounds_of(**processes, workload, o.rounds);
    if (!rounds) return Error{policy + ": " + rounds.error().what};
    ShareCase c{.benchmarks = workload, .isolated = {}, .isolated_rewritten = {}, .rounds = *std::move(rounds)};
    for (const std::string& name : workload) {
      c.isolated_rewritten.push_back(result.isolated[name]);
      c.isolated.push_back(baseline != nullptr ? baseline->at(name) : result.isolated[name]);
    }
    result.workloads.push_back(figures_of(c));
    progress.advance(1, policy);
  }
  if (o.unchecked) return result;
  if (auto right = (*processes)->check(); !right) return Error{policy + ": wrong output: " + right.error().what};
  return result;
}

Json json_of(const PolicyResult& r, std::size_t i, const Workload& workload) {
  const ShareFigures& f = r.workloads[i];
  return {{"name", fmt::format("{}", fmt::join(workload, "+"))},
          {"policy", r.policy},
          {"clients", workload.size()},
          {"seconds", f.seconds},
          {"shared_seconds", f.shared},
          {"slowdowns", f.slowdown},
          {"unfairness", f.unfairness},
          {"ideal_unfairness", f.ideal_unfairness},
          {"overlap", f.overlap},
          {"stp", f.stp},
          {"antt", f.antt},
          {"worst_ntt", f.worst},
          {"unfairness_rewritten", f.unfairness_in_form},
          {"stp_rewritten", f.stp_in_form},
          {"antt_rewritten", f.antt_in_form}};
}

Json json_of(const ShareSummary& s) {
  return {{"policy", s.policy},
          {"clients", s.clients},
          {"workloads", s.workloads},
          {"unfairness", s.unfairness},
          {"ideal_unfairness", s.ideal_unfairness},
          {"fairer", s.fairer},
          {"overlap", s.overlap},
          {"throughput", s.throughput},
          {"stp", s.stp},
          {"antt", s.antt},
          {"worst_ntt", s.worst},
          {"unfairness_rewritten", s.unfairness_in_form},
          {"stp_rewritten", s.stp_in_form},
          {"antt_rewritten", s.antt_in_form}};
}

std::vector<ShareSummary> summaries(const std::vector<PolicyResult>& results, const std::vector<Workload>& workloads) {
  std::vector<ShareSummary> all;
  for (std::size_t from = 0; from < workloads.size();) {
    std::size_t to = from;
    while (to < workloads.size() && workloads[to].size() == workloads[from].size()) ++to;
    const auto slice = [&](const PolicyResult& r) {
      return std::vector<ShareFigures>(r.workloads.begin() + static_cast<std::ptrdiff_t>(from),
                                       r.workloads.begin() + static_cast<std::ptrdiff_t>(to));
    };
    for (const PolicyResult& r : results) all.push_back(summarise(r.policy, slice(r), slice(results.front())));
    from = to;
  }
  return all;
}

std::string text_of(const std::vector<ShareSummary>& all) {
  Table table({"clients", "policy", "unfairness", "ideal", "fairer", "overlap", "throughput", "STP", "ANTT", "worst",
               "unf. rewr.", "ANTT rewr."});
  const auto two = [](double x) { return fmt::format("{:.2f}", x); };
  for (const ShareSummary& s : all) {
    table.add({std::to_string(s.clients), s.policy, two(s.unfairness), two(s.ideal_unfairness), two(s.fairer) + "x",
               fmt::format("{:.0f}%", s.overlap * 100), two(s.throughput) + "x", two(s.stp), two(s.antt), two(s.worst),
               two(s.unfairness_in_form), two(s.antt_in_form)});
  }
  return table.to_string();
}

// The isolated time of each benchmark relative to the native driver.
std::string isolated_text(const std::vector<PolicyResult>& results, Json& json) {
  Table table({"isolated", "policy", "time", "speed"});
  std::string means;
  for (const PolicyResult& r : results) {
    std::vector<double> speeds;
    for (const auto& [name, seconds] : r.isolated) {
      const double speed = results.front().isolated.at(name) / seconds;
      speeds.push_back(speed);
      table.add({name, r.policy, duration(seconds), fmt::format("{:.3f}", speed)});
      json.push_back({{"name", name}, {"policy", r.policy}, {"seconds", seconds}, {"speed", speed}});
    }
    means += fmt::format("{}: {:.3f} of {}'s isolated speed, geometric mean\n", r.policy, gpu::geometric_mean(speeds),
                         results.front().policy);
  }
  return table.to_string() + means;
}

Result<int> bench_share(const BenchShareOptions& o) {
  if (const auto size = parse_size(o.setup.size); !size) return size.error();
  const auto names = chosen(o);
  if (!names) return names.error();
  const auto workloads = workloads_of(o, *names);
  if (!workloads) return workloads.error();
  // Isolated runs without a daemon are the reference where they are measured.
  constexpr const char* kNative = "native";
  const bool has_native = std::find(o.policies.begin(), o.policies.end(), kNative) != o.policies.end();
  std::vector<std::string> policies{kBaseline};
  if (has_native) policies.insert(policies.begin(), kNative);
  for (const std::string& policy : o.policies) {
    if (policy != kBaseline && policy != kNative) policies.push_back(policy);
  }
  std::vector<PolicyResult> results;
  Progress progress(policies.size() * workloads->size());
  for (const std::string& policy : policies) {
    auto result = measure(o, policy, *workloads, results.empty() ? nullptr : &results.front().isolated, progress);
    if (!result) return result.error();
    results.push_back(*std::move(result));
  }
  Json items = Json::array(), summary = Json::array(), isolated = Json::array();
  for (const PolicyResult& r : results) {
    for (std::size_t i = 0; i < workloads->size(); ++i) items.push_back(json_of(r, i, (*workloads)[i]));
  }
  const auto means = summaries(results, *workloads);
  for (const ShareSummary& s : means) summary.push_back(json_of(s));
  const std::string by_themselves = isolated_text(results, isolated);
  const Output output(o.json);
  output.say(by_themselves + "\n" + text_of(means));
  if (auto done = output.document({{"schema", 1},
                                   {"size", o.setup.size},
                                   {"rounds", o.rounds},
                                   {"repeat", o.setup.repeat},
                                   {"seed", o.seed},
                                   {"verified", !o.unchecked},
                                   {"items", items},
                                   {"summary", summary},
                                   {"isolated", isolated},
                                   {"alone", isolated}});
      !done) {
    return done.error();
  }
  return 0;
}

}  // namespace

void add_bench_share(const Command& bench) {
  auto options = std::make_shared<BenchShareOptions>();
  const Command share =
      bench.add("share", "OpenCL clients beside each other, on the device that is here",
                "wm bench share --clients 2 --workloads 10\nwm bench share sgemm lbm --policy accelos --policy native");
  share.option("names", options->names, "Benchmarks that clients run (default: Parboil's)");
  share.option(
      "--policy", options->policies,
      "Policies besides fifo, the device's own order; native: no daemon, each client on the device's own driver",
      {.show_default = true});
  share.option("--clients", options->clients, "Clients at once; may be repeated", {.show_default = true});
  share.option("--workloads", options->workloads, "Random workloads for each number of clients",
               {.show_default = true, .low = 1, .high = 100000});
  share.option("--rounds", options->rounds, "Runs of each workload", {.show_default = true, .low = 1, .high = 10000});
  share.option("--repeat", options->setup.repeat,
               "Runs of its benchmark that a client makes in a row, as one program that restores its data between them",
               {.show_default = true, .low = 1, .high = kMaxRepeat});
  share.option("--seed", options->seed, "Seed of the random workloads", {.show_default = true});
  share.option("--size", options->setup.size, "small, medium or large", {.show_default = true});
  share.option("--device", options->setup.device, "Part of the name of the platform or device to use");
  share.option("--cache", options->setup.cache, "Rewritten programs, as wm cl cache leaves them", {.type = "FOLDER"});
  share.flag("--unchecked", options->unchecked, "Without checking outputs, which for large ones takes minutes");
  share.json(options->json);
  share.run([options] { return bench_share(*options); });
}

}  // namespace wm::cli
