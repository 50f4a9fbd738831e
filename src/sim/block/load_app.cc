#include "sim/block/load_app.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/yaml_map.h"
#include "sim/block/block_record.h"

namespace wm::sim {
namespace {

using yaml::Map;
using yaml::Value;

constexpr std::uint64_t kMaxCopyBytes = std::uint64_t{1} << 50;
// Repetitions are written out, so a short file could describe more steps than the host's memory holds.
constexpr std::size_t kMaxSteps = 10'000'000;
// More SMs than any GPU has; times the blocks on an SM the number still fits into 32 bits.
constexpr std::uint32_t kMaxMeasuredSms = 100'000;
constexpr double kLowestSaturation = 0.01;
constexpr std::uint32_t kMaxBlockThreads = 1024;  // NVIDIA's GPUs run no larger block

// Blocks and durations from a file with recorded blocks, whose path is relative to the application's.
Result<void> read_record(KernelDescription& k, const std::string& recorded, const Place& place) {
  if (k.blocks != 0 || k.kernel_time.count != 0 || k.block_time.count != 0)
    return Error{fmt::format("kernel '{}': 'recorded' stands for 'blocks', 'time' and 'block_time'", k.name), place};
  const std::filesystem::path beside = std::filesystem::path(place.file).parent_path() / recorded;
  const auto record = load_block_record(beside.string());
  if (!record) return record.error();
  k.blocks = record->blocks;
  k.block_time = record->block_time;
  k.shape = DurationShape::from_samples(record->durations);
  return {};
}

Result<KernelDescription> read_kernel(const yaml::Member& member, std::uint32_t measured_sms) {
  KernelDescription k;
  k.name = member.key;
  k.measured_sms = measured_sms;
  Bytes shared{0};
  double uniform = 0;
  double lognormal = 0;
  std::vector<double> durations;
  Map map(member.value, fmt::format("kernel '{}'", k.name));
  std::string recorded;
  k.blocks = 0;
  map.optional("blocks", k.blocks)
      .optional("recorded", recorded)
      .required("threads", k.threads)
      .optional("registers", k.registers);
  map.optional("shared_memory", shared).optional("time", k.kernel_time).optional("block_time", k.block_time);
  map.optional("variation", uniform).optional("lognormal_variation", lognormal).optional("durations", durations);
  map.optional("instructions", k.block_instructions).optional("saturation", k.saturation);
  if (auto read = map.finish(); !read) return read.error();
  k.shared_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(shared.count, 0xffffffffU));
  const auto refuse = [&](const char* what) {
    return Error{fmt::format("kernel '{}': {}", k.name, what), member.place};
  };
  if (!recorded.empty())
    if (auto read = read_record(k, recorded, member.place); !read) return read.error();
  if (k.blocks == 0 || k.threads == 0) return refuse("blocks and threads must be at least 1");
  if (k.threads > kMaxBlockThreads) return refuse("a block has at most 1024 threads");
  if ((k.kernel_time.count == 0) == (k.block_time.count == 0)) return refuse("needs either 'time' or 'block_time'");
  if (k.kernel_time.count != 0 && measured_sms == 0) return refuse("'time' needs the application's 'measured_sms'");
  if (uniform < 0 || uniform >= 1) return refuse("'variation' must be from 0 to below 1");
  if (lognormal < 0 || lognormal > 100) return refuse("'lognormal_variation' must be from 0 to 100");
  if (k.saturation < kLowestSaturation || k.saturation > 1) return refuse("'saturation' must be from 0.01 to 1");
  if ((uniform > 0) + (lognormal > 0) + (durations.empty() ? 0 : 1) + (recorded.empty() ? 0 : 1) > 1)
    return refuse("of 'variation', 'lognormal_variation', 'durations' and 'recorded' only one");
  if (uniform > 0) k.shape = DurationShape::uniform(uniform);
  if (lognormal > 0) k.shape = DurationShape::lognormal(lognormal);
  if (std::any_of(durations.begin(), durations.end(), [](double d) { return d <= 0; }))
    return refuse("'durations' must be above 0");
  if (!durations.empty()) k.shape = DurationShape::from_samples(durations);
  return k;
}

Result<void> read_steps(const Value& list, AppTrace& app, std::uint32_t depth);

Result<void> read_repeat(const Value& value, AppTrace& app, std::uint32_t depth) {
  std::uint32_t times = 0;
  Map map(value, "repeat");
  map.required("repeat", times);
  const Value* steps = map.take("steps");
  if (steps == nullptr) map.miss("steps");
  if (auto read = map.finish(); !read) return read;
  const std::size_t begin = app.steps.size();
  if (auto read = read_steps(*steps, app, depth + 1); !read) return read;
  const std::vector<TraceStep> body(app.steps.begin() + static_cast<std::ptrdiff_t>(begin), app.steps.end());
  if (body.empty()) return Error{"'repeat' needs at least one step", value.place};
  if (times == 0) return Error{"'repeat' must be at least 1", value.place};
  if (begin + body.size() * times > kMaxSteps)
    return Error{fmt::format("an application has at most {} steps, repetitions written out", kMaxSteps), value.place};
  for (std::uint32_t i = 1; i < times; ++i) app.steps.insert(app.steps.end(), body.begin(), body.end());
  return {};
}

Result<void> read_step(const Value& value, AppTrace& app) {
  TraceStep step;
  Map map(value, "trace");
  const Value* async = map.take("async");
  if (async != nullptr) map.keep(yaml::read(*async, map.label("async"), step.asynchronous));
  const Value* stream = map.take("stream");
  if (stream != nullptr) map.keep(yaml::read(*stream, map.label("stream"), step.stream));
  Picoseconds cpu;
  Bytes bytes;
  std::string name;
  int kinds = 0;
  const auto kind = [&](const char* key, TraceStep::Kind k, auto& out) {
    const Value* at = map.take(key);
    if (at == nullptr) return;
    step.kind = k;
    ++kinds;
    map.keep(yaml::read(*at, map.label(key), out));
  };
  kind("cpu", TraceStep::Kind::cpu, cpu);
  kind("copy_to_device", TraceStep::Kind::copy_to_device, bytes);
  kind("copy_to_host", TraceStep::Kind::copy_to_host, bytes);
  kind("launch", TraceStep::Kind::launch, name);
  kind("sync", TraceStep::Kind::sync, name);
  if (auto read = map.finish(); !read) return read;
  if (bytes.count > kMaxCopyBytes)
    return Error{fmt::format("a copy has at most {} bytes, not {}", kMaxCopyBytes, bytes.count), value.place};
  if (kinds != 1) return Error{"a step is one of cpu, copy_to_device, copy_to_host, launch, sync, repeat", value.place};
  const bool is_command = step.kind != TraceStep::Kind::cpu && step.kind != TraceStep::Kind::sync;
  if (async != nullptr && !is_command) return Error{"'async' belongs to copies and launches", async->place};
  if (stream != nullptr && !is_command) return Error{"'stream' belongs to copies and launches", stream->place};
  if (step.kind == TraceStep::Kind::sync && name != "all")
    return Error{fmt::format("'sync' waits for all streams: 'all' expected, not '{}'", name), value.place};
  step.amount = step.kind == TraceStep::Kind::cpu ? cpu.count : bytes.count;
  if (step.kind == TraceStep::Kind::launch) {
    std::vector<std::string> names;
    for (const KernelDescription& k : app.kernels) names.push_back(k.name);
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end())
      return Error{fmt::format("unknown kernel '{}'{}", name, did_you_mean(name, names)), value.place};
    step.amount = static_cast<std::uint64_t>(at - names.begin());
    if (async == nullptr) step.asynchronous = true;
  }
  if (step.stream > 1023) return Error{"'stream' must be from 0 to 1023", value.place};
  app.streams = std::max(app.streams, step.stream + 1);
  app.steps.push_back(step);
  return {};
}

Result<void> read_steps(const Value& list, AppTrace& app, std::uint32_t depth) {
  if (list.kind != Value::Kind::list) return Error{"a trace is a list of steps, not " + describe(list), list.place};
  if (depth > 8) return Error{"repetitions are nested too deeply", list.place};
  for (const Value& item : list.items) {
    const bool repeat =
        std::any_of(item.members.begin(), item.members.end(), [](const yaml::Member& m) { return m.key == "repeat"; });
    if (auto read = repeat ? read_repeat(item, app, depth) : read_step(item, app); !read) return read;
  }
  return {};
}

// The classes in which papers put the application: a name for each grouping.
Result<void> read_classes(const Value& classes, AppTrace& app) {
  if (classes.kind != Value::Kind::map)
    return Error{"'classes' must be a map such as {class1: SHORT}, not " + describe(classes), classes.place};
  for (const yaml::Member& m : classes.members)
    if (auto read = yaml::read(m.value, fmt::format("'{}' in classes", m.key), app.classes[m.key]); !read) return read;
  return {};
}

}  // namespace

Result<AppTrace> parse_app(std::string_view text, const std::string& file) {
  const auto value = yaml::load(text, file);
  if (!value) return value.error();
  AppTrace app;
  Map map(*value, "");
  map.required("name", app.name).optional("about", app.about).optional("measured_sms", app.measured_sms);
  const Value* classes = map.take("classes");
  const Value* kernels = map.take("kernels");
  if (kernels == nullptr) map.miss("kernels");
  const Value* trace = map.take("trace");
  if (trace == nullptr) map.miss("trace");
  if (auto read = map.finish(); !read) return read.error();
  if (app.measured_sms > kMaxMeasuredSms)
    return Error{fmt::format("'measured_sms' must be at most {}, not {}", kMaxMeasuredSms, app.measured_sms),
                 value->place};
  if (classes != nullptr)
    if (auto read = read_classes(*classes, app); !read) return read.error();
  for (const yaml::Member& m : kernels->members) {
    auto kernel = read_kernel(m, app.measured_sms);
    if (!kernel) return kernel.error();
    app.kernels.push_back(*std::move(kernel));
  }
  if (app.kernels.empty()) return Error{"an application needs at least one kernel", kernels->place};
  if (auto read = read_steps(*trace, app, 0); !read) return read.error();
  if (app.steps.empty()) return Error{"an application needs at least one step", trace->place};
  // The application ends when all its commands have completed.
  app.steps.push_back({.kind = TraceStep::Kind::sync});
  return app;
}

namespace {

Result<AppTrace> only_kernel(AppTrace app, const std::string& kernel) {
  std::vector<std::string> names;
  for (const KernelDescription& k : app.kernels) names.push_back(k.name);
  const auto at = std::find(names.begin(), names.end(), kernel);
  if (at == names.end())
    return Error{fmt::format("application '{}' has no kernel '{}'{}", app.name, kernel, did_you_mean(kernel, names))};
  app.name += "/" + kernel;
  app.kernels = {app.kernels[static_cast<std::size_t>(at - names.begin())]};
  app.steps = {{.kind = TraceStep::Kind::launch, .asynchronous = true}, {.kind = TraceStep::Kind::sync}};
  app.streams = 1;
  return app;
}

// Lengthens an application of one launch to `time` in isolation by more blocks, at the same rate.
Result<AppTrace> lasting(AppTrace app, const std::string& text) {
  const auto time = parse_picoseconds(text);
  KernelDescription& k = app.kernels.front();
  if (!time || time->count == 0) return Error{fmt::format("a time such as 1ms expected after '@', not '{}'", text)};
  if (k.kernel_time.count == 0) return Error{fmt::format("'{}@{}' needs a kernel with a 'time'", app.name, text)};
  app.name += "@" + text;
  if (k.kernel_time >= *time) return app;
  const double blocks = k.blocks * (static_cast<double>(time->count) / static_cast<double>(k.kernel_time.count));
  if (blocks > 1e9) return Error{fmt::format("'{}' would have more than a thousand million blocks", app.name)};
  k.blocks = static_cast<std::uint32_t>(std::llround(blocks));
  k.kernel_time = *time;
  return app;
}

}  // namespace

Result<AppTrace> load_app(const std::string& name_or_path, const std::string& folder) {
  std::string path = name_or_path;
  if (const std::size_t slash = path.find('/'); !path.ends_with(".yaml") && slash != std::string::npos) {
    auto app = load_app(path.substr(0, slash), folder);
    if (!app) return app.error();
    const std::string kernel = path.substr(slash + 1, path.find('@') - slash - 1);
    app = only_kernel(*std::move(app), kernel);
    return app && path.find('@') != std::string::npos ? lasting(*std::move(app), path.substr(path.find('@') + 1)) : app;
  }
  if (!path.ends_with(".yaml")) {
    const auto names = app_names(folder);
    if (std::find(names.begin(), names.end(), path) == names.end())
      return Error{fmt::format("unknown application '{}'{}", path, did_you_mean(path, names))};
    path = folder + "/" + path + ".yaml";
  }
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_app(*text, path);
}

std::vector<std::string> app_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace wm::sim
