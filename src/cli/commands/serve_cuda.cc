#include "cli/commands/serve_cuda.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

#include "cli/input/cuda_driver.h"
#include "cli/input/mps_daemon.h"
#include "cli/input/stop_signals.h"
#include "runtime/arbiter/arbiter.h"

namespace wm::cli {

namespace {

Result<runtime::UnmetGoals> unmet_goals(const std::string& text) {
  using runtime::UnmetGoals;
  for (const auto& [name, rule] : {std::pair{"refuse", UnmetGoals::refuse}, std::pair{"wait", UnmetGoals::wait},
                                   std::pair{"accept", UnmetGoals::accept}}) {
    if (text == name) return rule;
  }
  return Error{"--admission '" + text + "' is none of refuse, wait and accept"};
}

// WARPMUX_WORKERS=always is for comparing the results of programs with and without workers.
runtime::WorkerUse workers_of_environment() {
  const char* given = std::getenv("WARPMUX_WORKERS");
  return given != nullptr && std::string_view(given) == "always" ? runtime::WorkerUse::always
                                                                 : runtime::WorkerUse::beside_others;
}

// Workers count SMs by the numbers that their process sees (worker_words.h). On other GPUs this was not seen.
Result<void> check_workers(const CudaDriver& driver) {
  constexpr int kNumbersSmsPerProcess = 9;
  if (driver.compute_capability >= kNumbersSmsPerProcess) return {};
  return Error{fmt::format(
      "--workers needs a GPU of compute capability {}.0 or later, which numbers its SMs for each process; {} has {}.x",
      kNumbersSmsPerProcess, driver.device, driver.compute_capability)};
}

// Options are refused where they would be ignored.
Result<void> check_meaning(const ServeCudaOptions& given) {
  const ServeCudaOptions usual;
  const bool is_mps = given.sharing == "mps", has_policy = !given.arbiter.policy.empty();
  const bool has_slice = given.arbiter.slice_microseconds != usual.arbiter.slice_microseconds;
  const bool has_headroom = given.arbiter.headroom_percent.has_value();
  const bool has_group = given.sms_of_group != usual.sms_of_group;
  if (has_slice && is_mps) return Error{"--slice has no meaning with --sharing mps"};
  if (has_headroom && !is_mps) return Error{"--headroom has no meaning with --sharing isolated"};
  if (has_group && given.workers) return Error{"--sm-group has no meaning with --workers, which gives pairs of SMs"};
  for (const auto& [name, is_given] :
       {std::pair{"--sm-group", has_group}, std::pair{"--decisions", !given.arbiter.decisions_file.empty()}}) {
    if (is_given && !has_policy) return Error{std::string(name) + " needs --policy"};
  }
  for (const auto& [name, is_given] :
       {std::pair{"--headroom", has_headroom}, std::pair{"--max-loss", given.max_loss != 0},
        std::pair{"--hold", given.arbiter.wait_microseconds != usual.arbiter.wait_microseconds}}) {
    if (is_given && has_policy) return Error{std::string(name) + " has no meaning with --policy"};
  }
  return {};
}

}  // namespace

void add_serve_cuda_options(const Command& command, ServeCudaOptions& options) {
  command.flag("--cuda", options.chosen, "Arbitrate CUDA programs, which keep their own processes and driver");
  command.option("--sharing", options.sharing,
                 "With --cuda: mps (kernels of several programs at once, through an MPS daemon that is started and "
                 "stopped here), or isolated (programs take turns)",
                 {.show_default = true});
  command.option("--slice", options.arbiter.slice_microseconds,
                 "With --sharing isolated: microseconds of the others' time slices while a program with a goal or of "
                 "higher priority is active",
                 {.show_default = true, .low = 50, .high = 100'000});
  command.option("--max-loss", options.max_loss,
                 "With --cuda: the part of their launch rate that programs may lose to a program of higher priority "
                 "without a goal (default: 0.08 with mps, where --headroom follows it, and 0.3 isolated, where "
                 "slices are short for as long as it allows)",
                 {.low = 0.01, .high = 1});
  command.option(
      "--admission", options.admission,
      "With --cuda: a program whose goal cannot be met beside the goals of others is refused (refuse), waits "
      "until it can (wait), or starts (accept)",
      {.show_default = true});
  command.option(
      "--sm-group", options.sms_of_group,
      "With --cuda and a policy that gives SMs to programs: the number of SMs in a group, which has one owner; "
      "a multiple of 8, or an even number on drivers that allow it",
      {.show_default = true, .low = 2, .high = 64});
  command.flag("--workers", options.workers,
               "With --cuda and such a policy: programs own pairs of SMs, and kernels whose PTX the program has run as "
               "workers, which leave an SM at the end of a block; others get a part of every SM");
  command.option(
      "--decisions", options.arbiter.decisions_file,
      "Append the policy's events and decisions to this file; with --cuda under a policy that gives SMs or quotas",
      {.type = "FILE", .output = true});
  command.option("--hold", options.arbiter.wait_microseconds,
                 "With --cuda: microseconds that launches wait at most while such a program has work; 0: they do not",
                 {.show_default = true, .high = 100'000});
}

Result<int> serve_cuda(ServeCudaOptions options) {
  if (options.sharing != "mps" && options.sharing != "isolated")
    return Error{"--sharing '" + options.sharing + "' is neither mps nor isolated"};
  const bool is_mps = options.sharing == "mps";
  options.arbiter.sharing = is_mps ? runtime::Sharing::mps : runtime::Sharing::isolated;
  if (const auto fitting = check_meaning(options); !fitting) return fitting.error();
  const auto admission = unmet_goals(options.admission);
  if (!admission) return admission.error();
  options.arbiter.unmet_goals = *admission;
  if (options.max_loss != 0) options.arbiter.max_loss = options.max_loss;
  const runtime::Descriptor stop = stop_signals();
  const auto driver = find_cuda_driver();
  if (!driver) return driver.error();
  options.arbiter.threads = driver->threads;
  options.arbiter.sm_groups = find_sm_groups(options.sms_of_group);
  if (options.workers) {
    if (const auto can = check_workers(*driver); !can) return can.error();
    options.arbiter.sm_groups = options.arbiter.sm_groups.for_workers(workers_of_environment());
  }
  std::unique_ptr<MpsDaemon> mps;
  if (is_mps) {
    auto started = MpsDaemon::start();
    if (!started) return started.error();
    mps = std::move(*started);
    options.arbiter.pipe_folder = mps->pipe_folder();
  }
  auto arbiter = runtime::Arbiter::open(options.arbiter, driver->device);
  if (!arbiter) return arbiter.error();
  std::printf("%s, %s, for CUDA programs\nlistening at %s\n", driver->device.c_str(), options.sharing.c_str(),
              options.arbiter.socket.c_str());
  std::fflush(stdout);
  (*arbiter)->run(stop.get());
  return 0;
}

}  // namespace wm::cli
