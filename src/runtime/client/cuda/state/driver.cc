#include "runtime/client/cuda/state/driver.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <unistd.h>

#include "base/number.h"
#include "base/units.h"
#include "gpu/load_gpu.h"
#include "runtime/client/cuda/state/capture.h"
#include "runtime/client/cuda/state/gpu_folder.h"
#include "runtime/simulated/launch_range.h"

namespace wm::cuda {

namespace {

std::atomic<Driver*> the_driver{nullptr};

// A child of a process with a driver has none, and cannot get one: the driver's threads are the parent's.
std::atomic<bool> is_forked_child{false};

void forget_driver_in_child() {
  Driver* const parents = the_driver.exchange(nullptr);
  if (parents == nullptr) return;
  is_forked_child = true;
  parents->close_connection_in_child();
}

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == 0 ? otherwise : value;
}

// Half of the host's memory, in whole GiB.
std::uint64_t default_memory() {
  const std::uint64_t host =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;
  return std::max(kGigabyte, host / 2 / kGigabyte * kGigabyte);
}

Result<std::uint64_t> device_memory() {
  const std::string given = variable("WARPMUX_SIMULATED_MEMORY", "");
  if (given.empty()) return default_memory();
  const auto bytes = parse_bytes(given);
  if (!bytes) return Error{"WARPMUX_SIMULATED_MEMORY: " + bytes.error().what};
  return bytes->count;
}

// Threads, the policy of timed kernels, and the launches that are timed: N, or N-M.
Result<runtime::TimedOptions> timed_options() {
  runtime::TimedOptions options;
  const auto threads = parse_integer<std::uint32_t>(variable("WARPMUX_THREADS", ""));
  options.threads = threads ? *threads : std::max(1U, std::thread::hardware_concurrency());
  options.policy = variable("WARPMUX_POLICY", options.policy);
  const auto range = runtime::parse_launch_range(variable("WARPMUX_FROM_LAUNCH", ""));
  if (!range) return range.error();
  options.first_launch = range->first;
  options.last_launch = range->last;
  return options;
}

// Name, goal, priority and share that the options of `wm run` give to a program on a daemon's simulated GPU.
Result<runtime::ServedTerms> served_terms() {
  runtime::ServedTerms terms;
  terms.name = variable("WARPMUX_NAME", program_invocation_short_name);
  terms.priority = parse_integer<int>(variable("WARPMUX_PRIORITY", "")).value_or(0);
  terms.share = parse_double(variable("WARPMUX_SHARE", "")).value_or(1);
  const auto goal = runtime::parse_served_goal(variable("WARPMUX_SIMULATED_GOAL", ""));
  if (!goal) return goal.error();
  terms.goal = *goal;
  return terms;
}

}  // namespace

Driver* Driver::get() { return the_driver.load(std::memory_order_acquire); }

CUresult Driver::initialize() {
  if (is_forked_child) return CUDA_ERROR_NOT_INITIALIZED;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (get() != nullptr) return CUDA_SUCCESS;
  const auto fail = [](const Error& error) {
    std::fprintf(stderr, "wm: %s\n", error.to_string().c_str());
    return CUDA_ERROR_NO_DEVICE;
  };
  auto config = gpu::load_gpu(variable("WARPMUX_SIMULATE", "h200"), gpu_folder());
  if (!config) return fail(config.error());
  runtime::ServedConnection* served = nullptr;
  if (const std::string socket = variable("WARPMUX_SERVED", ""); !socket.empty()) {
    const auto terms = served_terms();
    if (!terms) return fail(terms.error());
    const auto opened = runtime::ServedConnection::open(socket, *terms);
    if (!opened) return fail(opened.error());
    served = *opened;
  }
  const auto memory = served != nullptr ? served->memory_bytes() : device_memory();
  if (!memory) return fail(memory.error());
  const auto options = timed_options();
  if (!options) return fail(options.error());
  auto* driver = new Driver(*std::move(config), *memory, served);  // lives until the process ends, as its threads do
  const auto chosen = served != nullptr ? driver->join_daemon()
                                        : driver->choose_timing(variable("WARPMUX_TIMING", "functional"), *options);
  if (!chosen) return fail(chosen.error());
  the_driver.store(driver, std::memory_order_release);
  ::pthread_atfork(nullptr, nullptr, forget_driver_in_child);
  std::atexit([] {
    if (get() != nullptr) std::fputs(get()->summary().c_str(), stderr);
  });
  return CUDA_SUCCESS;
}

std::shared_ptr<Context> Driver::primary() {
  const std::lock_guard lock(mutex_);
  return primary_;
}

std::shared_ptr<Context> Driver::retain_primary() {
  const std::lock_guard lock(mutex_);
  if (primary_ == nullptr) {
    primary_ = std::make_shared<Context>(*this, primary_flags, true, next_id());
    contexts.add(primary_);
  }
  ++primary_users_;
  return primary_;
}

CUresult Driver::release_primary() {
  std::shared_ptr<Context> last;
  {
    const std::lock_guard lock(mutex_);
    if (primary_ == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (primary_users_ == 0 || --primary_users_ != 0) return CUDA_SUCCESS;
    last = std::exchange(primary_, nullptr);
  }
  destroy(last);
  return CUDA_SUCCESS;
}

CUresult Driver::reset_primary() {
  std::shared_ptr<Context> old;
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(primary_, nullptr);
    primary_users_ = 0;
  }
  if (old != nullptr) destroy(old);
  return CUDA_SUCCESS;
}

void Driver::destroy(const std::shared_ptr<Context>& context) {
  Captures::instance().forget(*context);
  (void)context->drain();
  contexts.remove(context.get());
  streams.remove_if([&](const Stream& s) { return &s.context == context.get(); });
  events.remove_if([&](const Event& e) { return e.context == context.get(); });
  textures.forget(context.get());
  functions.remove_if([&](const Function& f) { return f.module->context == context.get(); });
  libraries.remove_if([&](const Library& l) { return l.module->context == context.get(); });
  modules.remove_if([&](const Module& m) { return m.context == context.get(); });
  memory().free_all_of(context.get());
}

}  // namespace wm::cuda
