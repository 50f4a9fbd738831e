// wm bench calls: the time of OpenCL calls for a client of the daemon and with the native driver.
#include <fmt/format.h>
#include <memory>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/commands/share_client.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "runtime/benchmark/call_costs.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BenchCallsOptions {
  std::string policy = "moving_shares", device, cache, json;
  std::uint64_t megabytes = 64;
  bool here = false, no_rewrite = false;
};

Json json_of(const runtime::CallCosts& c) {
  return {{"launch_call_us", c.launch_call},  {"launch_stream_us", c.launch_stream}, {"launch_wait_us", c.launch_wait},
          {"small_write_us", c.small_write},  {"small_read_us", c.small_read},       {"write_gb_s", c.write_bandwidth},
          {"read_gb_s", c.read_bandwidth},    {"build_new_ms", c.build_new},         {"build_known_ms", c.build_known},
          {"first_launch_ms", c.first_launch}};
}

Result<int> measure_here(const BenchCallsOptions& o) {
  const auto native = runtime::Native::open({o.device});
  if (!native) return native.error();
  const auto costs = runtime::measure_calls(**native, {.bytes = o.megabytes << 20});
  if (!costs) return costs.error();
  fmt::print("{}\n", json_of(*costs).dump());
  return 0;
}

Result<Json> measured_under(const BenchCallsOptions& o, const std::string& policy) {
  const ShareSetup setup{.size = "small", .device = o.device, .cache = o.cache, .rewrite = !o.no_rewrite};
  const auto processes = ShareProcesses::start(setup, policy);
  if (!processes) return processes.error();
  const auto line = (*processes)->ask({"bench", "calls", "--here", "--megabytes", std::to_string(o.megabytes)});
  if (!line) return line.error();
  Json costs = Json::parse(*line, nullptr, false);
  if (costs.is_discarded()) return Error{"no figures: '" + *line + "'"};
  return costs;
}

Result<int> bench_calls(const BenchCallsOptions& o) {
  if (o.here) return measure_here(o);
  const auto native = measured_under(o, "native");
  if (!native) return native.error();
  const auto ours = measured_under(o, o.policy);
  if (!ours) return ours.error();
  Table table({"", "native", o.policy, "added", "of native"});
  for (const auto& [name, before] : native->items()) {
    const double a = before.get<double>(), b = (*ours)[name].get<double>();
    const bool rate = name.ends_with("gb_s");
    table.add({name, fmt::format("{:.2f}", a), fmt::format("{:.2f}", b), rate ? "" : fmt::format("{:.2f}", b - a),
               fmt::format("{:.0f}%", 100 * b / a)});
  }
  const Output output(o.json);
  output.say(table.to_string());
  Json item = {{"name", "calls"}, {"policy", o.policy}, {"native", *native}, {"shared", *ours}};
  if (auto done = output.items(Json::array({item})); !done) return done.error();
  return 0;
}

}  // namespace

void add_bench_calls(const Command& bench) {
  auto options = std::make_shared<BenchCallsOptions>();
  const Command calls = bench.add("calls", "Cost of the daemon for OpenCL calls of one client",
                                  "wm bench calls\nwm bench calls --policy fifo --json -");
  calls.option("--policy", options->policy, "Policy of the daemon", {.show_default = true});
  calls.option("--device", options->device, "Part of the name of the platform or device to use");
  calls.option("--cache", options->cache, "Rewritten programs", {.type = "FOLDER"});
  calls.option("--megabytes", options->megabytes, "Size of large transfers",
               {.show_default = true, .low = 1, .high = 65536});
  calls.flag("--no-rewrite", options->no_rewrite, "With kernels as they are");
  calls.flag("--here", options->here, "Only on the OpenCL that this process finds, as a line of JSON");
  calls.json(options->json);
  calls.run([options] { return bench_calls(*options); });
}

}  // namespace wm::cli
