#include "cli/input/run_options.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <iterator>

#include "base/file.h"
#include "cli/input/data_folder.h"
#include "cli/input/participant.h"
#include "cli/input/subject.h"
#include "gpu/load_gpu.h"
#include "lab/run/steady_length.h"

namespace wm::cli {

Result<lab::RunSpec> RunOptions::without_policy() const {
  lab::RunSpec run = spec;
  if (auto known = parse_size(size); !known) return known.error();
  // In a steady co-run every kernel runs for the whole length, so that rates cover the same span.
  const std::uint32_t launches = repeats() ? 0 : 1;
  for (const std::string& word : kernels) {
    auto kernel = parse_kernel(word, size, launches);
    if (!kernel) return kernel.error();
    run.kernels.push_back(*std::move(kernel));
  }
  for (const std::string& word : apps) {
    auto app = parse_kernel(word, size, launches);
    if (!app) return app.error();
    if (word.find(":size=") != std::string::npos)
      return Error{fmt::format("application '{}' has one size: 'size' is a setting of kernels", app->name)};
    if (app->saturation != 1)
      return Error{fmt::format("application '{}': its file states the saturation of each kernel", app->name)};
    app->application = true;
    if (word.find(":launches=") == std::string::npos && (run.runs != 0 || !app->requests.arrivals.empty()))
      app->launches = 0;
    run.kernels.push_back(*std::move(app));
  }
  return run;
}

bool RunOptions::repeats() const {
  if (once) return false;
  if (spec.cycles != 0) return true;
  // Requests that arrive by themselves, and the protocols of --runs and --match-instructions, end runs in their own
  // way.
  const auto is_open = [](const std::string& word) {
    return word.find(":poisson=") != std::string::npos || word.find(":bursts=") != std::string::npos ||
           word.find(":requests=") != std::string::npos;
  };
  return kernels.size() + apps.size() > 1 && spec.runs == 0 && !spec.match_instructions &&
         std::none_of(apps.begin(), apps.end(), is_open);
}

lab::CorunOptions RunOptions::corun_options(const lab::RunSpec& run) const {
  lab::CorunOptions options(run);
  options.threads = threads;
  options.cache = lab::IsolatedCache(cache);
  return options;
}

void add_workload_options(const Command& command, RunOptions& o, const std::string& kernel_help, bool kernel_required) {
  command.option("--gpu", o.spec.gpu, "A GPU by name, or a YAML file", {.show_default = true});
  command.option("--kernel", o.kernels, kernel_help, {.required = kernel_required});
}

void add_length_options(const Command& command, RunOptions& o, const std::string& cycles_help,
                        const std::string& seed_help) {
  command.option("--size", o.size, "Size of kernels that name none: small, medium, large, short_blocks",
                 {.show_default = true});
  command.option("--cycles", o.spec.cycles, cycles_help, {.high = 1e15});
  command.flag("--once", o.once, "Each kernel runs once, to its end, instead of repeating to the end of the run");
  command.option("--warm", o.spec.warm, "Warm-up: rates and power count from this cycle on, in isolated runs too");
  command.option("--from", o.spec.from,
                 "Region of interest: they count from when every kernel has completed so many launches");
  command.flag("--match-instructions", o.spec.match_instructions,
               "Each kernel stops at the instructions of its isolated run of --cycles");
  command.option("--threads", o.threads, "Host threads; the result is the same for any number",
                 {.show_default = true, .low = 1, .high = 64});
  command.option("--seed", o.spec.seed, seed_help, {.show_default = true});
}

void add_cache_option(const Command& command, RunOptions& o) {
  command.option("--cache", o.cache, "Where isolated rates are kept; \"\": nowhere",
                 {.show_default = true, .type = "FOLDER"});
}

Result<LoadedRun> load_run(const lab::RunSpec& spec) {
  const auto gpu = gpu::load_gpu(spec.gpu, gpu_folder());
  if (!gpu) return gpu.error();
  return load_run(spec, *gpu);
}

Result<LoadedRun> load_run(const lab::RunSpec& spec, const gpu::GpuConfig& gpu) {
  LoadedRun run;
  run.gpu = gpu;
  for (const lab::KernelSpec& kernel : spec.kernels) {
    if (kernel.application) continue;
    if (kernel.saturation != 1 && spec.machine != "block")
      return Error{fmt::format("kernel '{}': saturation needs the block machine", kernel.name)};
    auto participant = make_participant(kernel, PtxOrigin{});
    if (!participant) return participant.error();
    run.participants.push_back(*std::move(participant));
  }
  return run;
}

Result<bool> choose_length(lab::RunSpec& spec, const LoadedRun& run, lab::CorunOptions& options) {
  if (!lab::needs_length(spec)) return false;
  const auto longest = lab::longest_isolated_run(run.gpu, run.participants, options);
  if (!longest) return longest.error();
  spec.cycles = options.cycles = lab::steady_length(spec, *longest);
  return true;
}

Result<lab::RunSpec> read_spec(const std::string& file) {
  if (file == "-") {
    const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    return lab::run_spec_from_json(text, "stdin");
  }
  const auto text = read_file(file);
  if (!text) return text.error();
  return lab::run_spec_from_json(*text, file);
}

}  // namespace wm::cli
