// The options that describe a run, as `wm sim` and `wm compare` share them, and the way from them to a run.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/input/options.h"
#include "gpu/gpu_config.h"
#include "lab/run/corun.h"
#include "lab/run/participant.h"
#include "lab/run/run_spec.h"

namespace wm::cli {

struct RunOptions {
  lab::RunSpec spec;                 // gpu, machine, cycles, match_instructions and seed are filled by the parser
  std::vector<std::string> kernels;  // NAME[:key=value]…
  std::vector<std::string> apps;     // the same, of applications
  std::string size = "medium";       // size of kernels that name none
  bool once = false;                 // kernels run once instead of repeating to the end of the run
  std::uint32_t threads = 1;
  std::string cache = lab::IsolatedCache::default_folder();

  // The specification with the kernels, but without a policy.
  [[nodiscard]] Result<lab::RunSpec> without_policy() const;
  [[nodiscard]] lab::CorunOptions corun_options(const lab::RunSpec& run) const;

 private:
  // Whether kernels that give no number of launches repeat to the end of the run.
  [[nodiscard]] bool repeats() const;
};

// --gpu and --kernel. A command that can read a specification from a file does not require --kernel.
void add_workload_options(const Command& command, RunOptions& options, const std::string& kernel_help,
                          bool kernel_required);
// The help of --cycles.
inline constexpr const char* kCyclesHelp =
    "Length of the run, to which kernels repeat; without it, the number of kernels times the longest isolated run";
// --size, --cycles, --match-instructions, --threads and --seed.
void add_length_options(const Command& command, RunOptions& options, const std::string& cycles_help,
                        const std::string& seed_help);
void add_cache_option(const Command& command, RunOptions& options);

// The GPU and the kernels of a specification, loaded.
struct LoadedRun {
  gpu::GpuConfig gpu;
  std::vector<lab::Participant> participants;
};
Result<LoadedRun> load_run(const lab::RunSpec& spec);
// The same on a GPU that is known, such as that of a system.
Result<LoadedRun> load_run(const lab::RunSpec& spec, const gpu::GpuConfig& gpu);

// Gives a run on the cycle machine a length where kernels repeat and none is given (lab/run/steady_length.h). Returns
// whether it did.
Result<bool> choose_length(lab::RunSpec& spec, const LoadedRun& run, lab::CorunOptions& options);

// Reads a RunSpec as JSON from a file, or from stdin where `file` is "-".
Result<lab::RunSpec> read_spec(const std::string& file);

}  // namespace wm::cli
