#include "runtime/server/daemon.h"

#include <cstdio>

#include "policy/logged_policy.h"
#include "runtime/schedule/device_defaults.h"

namespace wm::runtime {
namespace {

bool is_fifo(const ServeOptions& options) { return options.policy == "fifo"; }

bool decides_on_sms(const std::string& policy, const Backend& backend) {
  const auto choice = policy::choose(policy);
  return choice && needs_real_sms(choice->entry->info, backend.capabilities());
}

std::chrono::milliseconds max_awake(const ServeOptions& options) {
  return std::chrono::milliseconds(options.awake_milliseconds);
}

std::string cache_folder(const ServeOptions& options) {
  return options.cache.empty() ? rewrite::default_cache_folder() : options.cache;
}

std::unique_ptr<rewrite::Rewriter> make_rewriter(const ServeOptions& options) {
  if (!options.rewrite || is_fifo(options)) return nullptr;
  return std::make_unique<rewrite::Rewriter>(
      rewrite::RewriterOptions{.worker = rewrite::find_worker(), .cache_folder = cache_folder(options)});
}

sandbox::SandboxOptions sandbox_options(const ServeOptions& options, const Backend& backend) {
  sandbox::SandboxOptions sandbox;
  if (options.sandbox_seconds != 0 && !backend.capabilities().compiles_in_own_process) {
    sandbox.program = sandbox::find_sandbox();
    if (sandbox.program.empty()) {
      std::fputs("wm: wm-sandbox was not found: a program that crashes the device's compiler ends this daemon\n",
                 stderr);
    }
  }
  sandbox.device = options.device;
  sandbox.driver = backend.driver_version();
  if (const std::string cache = cache_folder(options); !cache.empty()) sandbox.folder = cache + "/tried";
  sandbox.limit = std::chrono::seconds(options.sandbox_seconds);
  return sandbox;
}

sandbox::SandboxOptions comparison_options(sandbox::SandboxOptions sandbox) {
  if (!sandbox.folder.empty()) sandbox.folder += "/comparisons";
  return sandbox;
}

// Policies that leave short launches unmodified do so below this time, in microseconds.
constexpr std::uint32_t kShortLaunch = 100;
// A launch of an isolated client may be longer by this factor, as the help of --short says.
constexpr double kIsolatedFactor = 3;

// Microseconds below which a launch under caps may run unmodified: a client that arrives waits for a few of them.
constexpr std::uint32_t kCappedLaunch = 1000;

AdmissionOptions admission_options(const ServeOptions& options, const std::string& policy, bool real_sms) {
  const auto choice = policy::choose(policy);
  const bool leaves_short = choice && choice->entry->info.short_launches_unmodified;
  // Other policies need workers that they can stop, or whose groups they can count at any time.
  const policy::Cans caps_only{policy::Can::cap_blocks, policy::Can::count_instructions};
  const bool only_caps = choice && choice->entry->info.needs.without(caps_only).empty();
  const bool may_run_capped = only_caps && options.short_launch.value_or(kShortLaunch) != 0;
  return {.pass_through = is_fifo(options),
          .short_launch = options.short_launch.value_or(leaves_short ? kShortLaunch : 0) * 1000.0,
          .isolated_short_launch = options.short_launch.value_or(kShortLaunch) * kIsolatedFactor * 1000.0,
          .capped_launch = may_run_capped ? kCappedLaunch * 1000.0 : 0,
          .headroom = options.headroom / 100.0,
          .gates = options.gates,
          .real_sms = real_sms};
}

std::uint64_t total_memory(const ServeOptions& options, const Backend& backend) {
  return options.memory != 0 ? options.memory : backend.memory_bytes();
}

}  // namespace

Daemon::Daemon(const ServeOptions& options, std::unique_ptr<Backend> backend, std::unique_ptr<policy::Policy> policy,
               std::string policy_name)
    : options_(options),
      backend_(std::move(backend)),
      policy_name_(std::move(policy_name)),
      real_sms_(decides_on_sms(policy_name_, *backend_)),
      limits_(total_memory(options, *backend_),
              options.client_memory != 0 ? options.client_memory : total_memory(options, *backend_),
              options.wait_for_memory, options.memory == 0 && options.client_memory == 0),
      rewriter_(make_rewriter(options)),
      sandbox_(sandbox_options(options, *backend_)),
      comparisons_(comparison_options(sandbox_.options())) {
  if (rewriter_) {
    rewriter_start_ = std::async(std::launch::async, [rewriter = rewriter_.get()] { rewriter->warm_up(); });
  }
  native_results_pending_ = std::async(std::launch::async, [this] { return sandbox_.native_results(); });
  if (real_sms_) backend_->make_workers();
  backend_->probe_compiler();
  worker_programs_ =
      std::make_unique<WorkerPrograms>(*backend_, counts_, compilers_, rewriter_.get(), sandbox_, real_sms_);
  precompilation_ = std::make_unique<Precompilation>(backend_->capabilities(), *worker_programs_, compilers_, sandbox_);
  verification_ = std::make_unique<Verification>(backend_->capabilities(), *worker_programs_, compilers_, comparisons_);
  scheduler_ = std::make_unique<Scheduler>(*backend_, counts_, std::move(policy),
                                           admission_options(options_, policy_name_, real_sms_),
                                           Scheduler::steady_clock(), max_awake(options_));
}

DaemonContext Daemon::context() {
  return {*backend_,        counts_,        limits_,    *scheduler_, *worker_programs_,
          *precompilation_, *verification_, compilers_, sandbox_,    max_awake(options_)};
}

Result<void> Daemon::set_policy(const std::string& text) {
  if (text == "fifo" || policy_name_ == "fifo") {
    return Error{"fifo compiles programs differently: it is chosen when the daemon starts (wm serve --policy)"};
  }
  const auto choice = real_sms_ ? choose_for_device(text) : policy::choose(text);
  if (!choice) return choice.error();
  auto policy = policy::make(*choice, machine_capabilities(real_sms_), "device");
  if (!policy && !real_sms_ && needs_real_sms(choice->entry->info, backend_->capabilities())) {
    return Error{"this policy decides on single SMs: it is chosen when the daemon starts (wm serve --policy)"};
  }
  if (!policy) return policy.error();
  *policy = policy::with_decisions_in(options_.decisions_file, std::move(*policy), *choice);
  policy_name_ = choice->to_string();
  scheduler_->set_policy(std::move(*policy), admission_options(options_, policy_name_, real_sms_));
  return {};
}

const NativeResults& Daemon::native_results() {
  if (native_results_pending_.valid()) native_results_ = native_results_pending_.get();
  return native_results_;
}

}  // namespace wm::runtime
