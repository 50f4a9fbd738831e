// wm record: the blocks and calls of kernels on this machine's CUDA device, as applications for the block machine.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <numeric>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/input/subject.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "runtime/recorder/recorded_app.h"

namespace wm::cli {
namespace {

namespace fs = std::filesystem;

struct RecordOptions {
  std::vector<std::string> names;
  std::string size = "medium";
  std::string folder = "recorded";
  std::uint64_t launches = 8;
  bool compress = false;
  double repeat = 0;  // seconds; 0: record
  double begin = 0;   // seconds since 1970
  std::string json;
};

std::string about_of(const runtime::cuda::DeviceFacts& facts) {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> date{};
  std::tm broken{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d", ::gmtime_r(&now, &broken));
  return fmt::format("recorded on {} with {} SMs, CUDA {}.{}, {}", facts.name, facts.multiprocessors,
                     facts.driver_version / 1000, facts.driver_version % 1000 / 10, date.data());
}

// Mean over the launches: from the first start of a block to the last end, and the time of a block.
struct Means {
  double launch_us = 0;
  double block_us = 0;
};
Means means_of(const runtime::RecordedKernel& kernel) {
  Means means;
  for (const auto& blocks : kernel.launches) {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (const rewrite::BlockTime& b : blocks) {
      first = std::min(first, b.start_ns);
      last = std::max(last, b.end_ns);
      means.block_us += static_cast<double>(b.end_ns - b.start_ns) / 1000 / static_cast<double>(blocks.size());
    }
    means.launch_us += static_cast<double>(last - first) / 1000;
  }
  const auto n = static_cast<double>(kernel.launches.size());
  return {means.launch_us / n, means.block_us / n};
}

Result<void> write(const std::string& folder, const std::vector<runtime::RecordedFile>& files) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error{fmt::format("cannot create the folder '{}': {}", folder, failed.message())};
  for (const runtime::RecordedFile& file : files) {
    if (auto done = write_file((fs::path(folder) / file.name).string(), file.text); !done) return done;
  }
  return {};
}

// The time of a run of each application as it is, one application after the other.
Result<int> repeat(const RecordOptions& options, zoo::Size size, const std::vector<Subject>& subjects,
                   runtime::cuda::Device& device) {
  Table table({"application", "runs", "mean of a run", "shortest", "longest"});
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  const std::chrono::system_clock::time_point begin{
      std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::duration<double>(options.begin))};
  for (const Subject& subject : subjects) {
    const zoo::Case c = subject.make(subject.size.value_or(size));
    const auto times = runtime::repeat_application(device, subject.ptx, c.application, begin, options.repeat);
    if (!times) return Error{subject.name + ": " + times.error().what};
    if (times->empty()) return Error{fmt::format("{}: no run ended within {} s", subject.name, options.repeat)};
    const double mean = std::accumulate(times->begin(), times->end(), 0.0) / static_cast<double>(times->size());
    const auto [shortest, longest] = std::minmax_element(times->begin(), times->end());
    table.add({subject.name, std::to_string(times->size()), fmt::format("{:.1f} us", mean),
               fmt::format("{:.1f} us", *shortest), fmt::format("{:.1f} us", *longest)});
    items.push_back({{"application", subject.name}, {"runs", times->size()}, {"mean_us", mean}});
  }
  const Output output(options.json);
  output.say(table.to_string());
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

// Whether the buffers are what the case expects: "equal", "differs: …", or "not checked" without expectations.
std::string verdict_of(zoo::Case& c, const runtime::Recording& recording) {
  if (c.reference) std::exchange(c.reference, nullptr)(c);
  if (c.expected.empty() && !c.check) return "not checked";
  const auto equal =
      zoo::verify(c, [&](gpu::BufferId id) -> const std::vector<std::byte>& { return recording.buffers[id.index]; });
  return equal ? "equal" : "differs: " + equal.error().what;
}

Result<runtime::Recording> record_subject(const RecordOptions& options, const Subject& subject, const zoo::Case& c,
                                          runtime::cuda::Device& device) {
  auto recording = runtime::record_blocks(device, subject.ptx, c.application);
  if (!recording) return recording.error();
  const auto files = runtime::recorded_app(*recording, fs::path(subject.name).stem().string(), about_of(device.facts()),
                                           {.max_launches = options.launches, .compressed = options.compress});
  if (!files) return files.error();
  if (auto done = write(options.folder, *files); !done) return done.error();
  return recording;
}

// The benchmarks that a CUDA driver can run; with no names all of these.
Result<std::vector<Subject>> recordable(const std::vector<std::string>& names, const PtxOrigin& origin) {
  auto subjects = find_subjects(names, origin);
  if (!subjects) return subjects.error();
  const auto refused = [](const Subject& subject) {
    const auto entry = zoo::find(subject.name);
    return entry && (*entry)->benchmark.constant_pointers;
  };
  const auto first = std::find_if(subjects->begin(), subjects->end(), refused);
  if (!names.empty() && first != subjects->end())
    return Error{first->name + ": a CUDA driver cannot pass its pointers to constant memory"};
  std::erase_if(*subjects, refused);
  return subjects;
}

Result<int> record(const RecordOptions& options) {
  const auto size = parse_size(options.size);
  if (!size) return size.error();
  const auto origin = PtxOrigin::parse("clang");
  if (!origin) return origin.error();
  const auto subjects = recordable(options.names, *origin);
  if (!subjects) return subjects.error();
  const auto calls = runtime::cuda::load_driver();
  if (!calls) return calls.error();
  const auto device = runtime::cuda::Device::open(*calls);
  if (!device) return device.error();
  if (options.repeat > 0) return repeat(options, *size, *subjects, **device);
  Table table(
      {"kernel", "launches", "blocks", "block time", "launch, recorded", "launch and wait, not recorded", "results"});
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  std::vector<std::string> failures;
  Progress bar(subjects->size());
  for (const Subject& subject : *subjects) {
    zoo::Case c = subject.make(subject.size.value_or(*size));
    const auto recording = record_subject(options, subject, c, **device);
    bar.advance(1, subject.name);
    if (!recording && subjects->size() == 1) return Error{subject.name + ": " + recording.error().to_string()};
    if (!recording) {  // the others are recorded all the same
      failures.push_back(subject.name + ": " + recording.error().to_string());
      continue;
    }
    const std::string verdict = verdict_of(c, *recording);
    const std::string word = verdict.substr(0, verdict.find(':'));
    if (word == "differs") failures.push_back(subject.name + " " + verdict);
    for (const runtime::RecordedKernel& k : recording->kernels) {
      const Means means = means_of(k);
      table.add({subject.name + "/" + k.name, std::to_string(k.launches.size()), std::to_string(k.blocks),
                 fmt::format("{:.2f} us", means.block_us), fmt::format("{:.2f} us", means.launch_us),
                 fmt::format("{:.2f} us", k.unrecorded_us), word});
      items.push_back({{"application", subject.name},
                       {"kernel", k.name},
                       {"launches", k.launches.size()},
                       {"blocks", k.blocks},
                       {"block_us", means.block_us},
                       {"launch_us", means.launch_us},
                       {"unrecorded_us", k.unrecorded_us},
                       {"results", word}});
    }
  }
  const Output output(options.json);
  output.say(table.to_string() +
             fmt::format("\nwm sim --machine block --app {}/NAME.yaml runs them\n", options.folder));
  if (auto done = output.items(items); !done) return done.error();
  for (const std::string& failure : failures) std::fprintf(stderr, "wm: %s\n", failure.c_str());
  return failures.empty() ? 0 : 1;
}

}  // namespace

void add_record(const Command& wm) {
  auto options = std::make_shared<RecordOptions>();
  const Command record_command =
      wm.add("record", "Record blocks and calls on a CUDA device, for the block machine",
             "wm record --launches 2 --compress --out recorded  # the whole zoo\n"
             "wm record sgemm histo --size large --out recorded\nwm sim --machine block --app recorded/sgemm.yaml\n"
             "wm run --simulate h200 --timing cycle -- wm record vecadd  # without a GPU");
  record_command.option("names", options->names, "Benchmarks (default: all), or paths of your own kernels' YAML");
  record_command.option("--size", options->size, "small, medium or large", {.show_default = true});
  record_command.option("--out", options->folder, "The folder that takes the files",
                        {.show_default = true, .type = "FOLDER"});
  record_command.option("--launches", options->launches, "Launches of a kernel that are written",
                        {.show_default = true, .low = 1, .high = 1e6});
  record_command.flag("--compress", options->compress, "Write the blocks as .csv.zst, which `recorded:` reads too");
  record_command.option(
      "--repeat", options->repeat,
      "Record nothing: run each application unmodified for so many seconds and print the time of a run",
      {.low = 0, .high = 3600});
  record_command.option("--begin", options->begin,
                        "With --repeat, the time at which several processes begin, in seconds since 1970",
                        {.low = 0, .high = 1e11});
  record_command.json(options->json);
  record_command.run([options] { return record(*options); });
}

}  // namespace wm::cli
