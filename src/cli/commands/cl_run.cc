// wm cl run: a benchmark of the zoo as an OpenCL host program, on whatever OpenCL the process finds. `wm run -- wm cl
// run sgemm` is therefore a client of the daemon.
#include "cli/commands/cl_run.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/commands/share_client.h"
#include "cli/input/subject.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "runtime/benchmark/opencl_application.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;
using runtime::OpenclApplication;

struct ClRunOptions {
  std::vector<std::string> names;
  std::string size = "small", device, json;
  std::uint64_t rounds = 1;
  bool takes_orders = false, unchecked = false;
};

Result<void> verify(OpenclApplication& program, const zoo::Case& c) {
  const auto contents = program.contents();
  if (!contents) return contents.error();
  return zoo::verify(c, [&](gpu::BufferId id) -> const std::vector<std::byte>& { return (*contents)[id.index]; });
}

zoo::Case make_case(const zoo::Entry& entry, zoo::Size size, bool with_reference) {
  zoo::Case c = entry.benchmark.make(size);
  if (with_reference && c.reference) c.reference(c);
  return c;
}

Json json_of(const OpenclApplication::Run& run) {
  return {{"began", run.began},
          {"ended", run.ended},
          {"device_began", run.device_began},
          {"device_ended", run.device_ended},
          {"device_busy", run.device_busy},
          {"launches", run.launches}};
}

void sleep_until(std::uint64_t nanoseconds) {
  using Clock = std::chrono::steady_clock;
  std::this_thread::sleep_until(Clock::time_point(Clock::duration(nanoseconds)));
}

// Reads requests from stdin and answers each with one line of JSON.
Json obey(OpenclApplication& program, zoo::Case& c, const std::string& order) {
  const auto failed = [](const Error& error) { return Json{{"error", error.what}}; };
  if (order == "prepare") {
    if (auto r = program.prepare(); !r) return failed(r.error());
    return {{"prepared", true}};
  }
  if (order == "check") {
    if (c.reference) c.reference(c);
    c.reference = {};
    const auto r = verify(program, c);
    return {{"passed", r.ok()}, {"detail", r ? "" : r.error().what}};
  }
  if (order.starts_with("run ")) {
    std::istringstream words(order.substr(4));
    std::uint64_t start = 0, times = 1;
    words >> start;
    if (!(words >> std::ws).eof() && !(words >> times)) times = 0;
    if (times < 1 || times > kMaxRepeat)
      return {{"error", fmt::format("run takes a time and 1 to {} runs", kMaxRepeat)}};
    sleep_until(start);
    const auto run = program.run(OpenclApplication::Timed::ends, static_cast<std::uint32_t>(times));
    return run ? json_of(*run) : failed(run.error());
  }
  if (order.starts_with("repeat ")) {
    const auto ends = program.repeat(std::strtoull(order.c_str() + 7, nullptr, 10));
    return ends ? Json{{"ends", *ends}} : failed(ends.error());
  }
  return {{"error", "no such order: " + order}};
}

Result<int> take_orders(const runtime::Native& native, const zoo::Entry& entry, zoo::Size size) {
  zoo::Case c = entry.benchmark.make(size);
  const auto program = OpenclApplication::make(native, c.application, entry.source, kZooBuildOptions);
  if (!program) return program.error();
  std::cout << Json{{"ready", entry.benchmark.name}}.dump() << std::endl;
  for (std::string order; std::getline(std::cin, order);) std::cout << obey(**program, c, order).dump() << std::endl;
  return 0;
}

struct Outcome {
  Result<void> verified;
  double seconds = 0, device_seconds = 0;  // the least of all rounds, each by itself
};

Result<Outcome> run_one(const runtime::Native& native, const zoo::Entry& entry, zoo::Size size,
                        const ClRunOptions& options) {
  const zoo::Case c = make_case(entry, size, !options.unchecked);
  const auto program = OpenclApplication::make(native, c.application, entry.source, kZooBuildOptions);
  if (!program) return program.error();
  Outcome outcome;
  for (std::uint64_t i = 0; i < options.rounds; ++i) {
    if (auto r = (*program)->prepare(); !r) return r.error();
    const auto run = (*program)->run();
    if (!run) return run.error();
    const double seconds = static_cast<double>(run->ended - run->began) * 1e-9;
    const double device_seconds = static_cast<double>(run->device_busy) * 1e-9;
    // The round that ends first for the host need not be the one in which kernels were fastest.
    outcome.seconds = i == 0 ? seconds : std::min(outcome.seconds, seconds);
    outcome.device_seconds = i == 0 ? device_seconds : std::min(outcome.device_seconds, device_seconds);
  }
  if (!options.unchecked) outcome.verified = verify(**program, c);
  return outcome;
}

Result<int> cl_run(const ClRunOptions& options) {
  const auto size = parse_size(options.size);
  if (!size) return size.error();
  std::vector<const zoo::Entry*> entries;
  for (const std::string& name : options.names) {
    const auto entry = zoo::find(name);
    if (!entry) return entry.error();
    entries.push_back(*entry);
  }
  if (options.names.empty()) {
    for (const zoo::Entry& entry : zoo::entries()) entries.push_back(&entry);
  }
  const auto native = runtime::Native::open({options.device});
  if (!native) return native.error();
  if (options.takes_orders) {
    if (entries.size() != 1) return Error{"--orders takes one benchmark"};
    return take_orders(**native, *entries.front(), *size);
  }
  Table table({"benchmark", "time", "on the device", "result"});
  Json items = Json::array();
  bool all = true;
  Progress progress(entries.size());
  for (const zoo::Entry* entry : entries) {
    const std::string& name = entry->benchmark.name;
    const auto outcome = run_one(**native, *entry, *size, options);
    if (!outcome) return Error{name + ": " + outcome.error().what};
    progress.advance(1, name);
    const bool passed = outcome->verified.ok();
    const std::string detail = passed ? "" : outcome->verified.error().what;
    all = all && passed;
    table.add({name, duration(outcome->seconds), duration(outcome->device_seconds),
               options.unchecked ? Cell("not checked")
               : passed          ? Cell("right", Style::good)
                                 : Cell(detail, Style::bad)});
    items.push_back({{"name", name},
                     {"size", options.size},
                     {"passed", options.unchecked ? Json(nullptr) : Json(passed)},
                     {"detail", detail},
                     {"seconds", outcome->seconds},
                     {"device_seconds", outcome->device_seconds}});
  }
  const Output output(options.json);
  output.say((*native)->platform_name() + ": " + (*native)->text(CL_DEVICE_NAME) + "\n" + table.to_string());
  if (auto done = output.items(items); !done) return done.error();
  return all ? 0 : 1;
}

}  // namespace

void add_cl_run(const Command& cl) {
  auto options = std::make_shared<ClRunOptions>();
  const Command run = cl.add("run", "Run the zoo as OpenCL host programs and check the results",
                             "wm cl run sgemm --size medium\nwm run -- wm cl run");
  run.option("names", options->names, "Benchmarks (default: all)");
  run.option("--size", options->size, "small, medium or large", {.show_default = true});
  run.option("--rounds", options->rounds, "Runs of each; the least time counts, and the least device time",
             {.show_default = true, .high = 1e6});
  run.flag("--unchecked", options->unchecked, "Leave out the CPU reference, which takes long for large sizes");
  run.option("--device", options->device, "Part of the name of the platform or device to use");
  run.flag("--orders", options->takes_orders,
           "Read requests from stdin: prepare, run NANOSECONDS [TIMES], repeat NANOSECONDS, check");
  run.json(options->json);
  run.run([options] { return cl_run(*options); });
}

}  // namespace wm::cli
