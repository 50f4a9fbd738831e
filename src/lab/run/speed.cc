#include "lab/run/speed.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace wm::lab {
namespace {

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Makes one run. The time includes uploading the inputs, but not building the machine.
Result<Speed> run_once(const gpu::GpuConfig& gpu, const Participant& kernel, std::uint32_t threads) {
  auto machine = sim::CycleMachine::make(gpu, threads, 1);
  if (!machine) return machine.error();
  sim::ClientSpec spec;
  spec.name = kernel.name;
  spec.module = kernel.module;
  spec.file = kernel.ptx_file;
  spec.application = kernel.application;
  spec.entry = kernel.entry;
  if (auto r = (*machine)->add(std::move(spec)); !r) return r.error();
  const auto choice = policy::choose("left_over");
  if (!choice) return choice.error();
  auto policy = policy::make(*choice, (*machine)->cans(), "cycle");
  if (!policy) return policy.error();
  const auto now = threads == 1 ? processor_seconds : clock_seconds;
  const double start = now();
  if (auto r = (*machine)->run(**policy, {}); !r) return r.error();
  Speed speed{.seconds = now() - start, .runs = 1};
  const sim::ClientTotals totals = (*machine)->totals(0);
  if (totals.fault) return Error{*totals.fault};
  speed.warp_instructions = totals.sm.warp_instructions;
  speed.cycles = (*machine)->now().count;
  return speed;
}

}  // namespace

Result<Speed> measure_speed(const gpu::GpuConfig& gpu, const Participant& kernel, std::uint32_t threads,
                            double seconds) {
  Speed best;
  double spent = 0;
  do {
    const auto ran = run_once(gpu, kernel, threads);
    if (!ran) return ran.error();
    const std::uint32_t runs = best.runs + 1;
    if (runs == 1 || ran->seconds < best.seconds) best = *ran;
    best.runs = runs;
    spent += ran->seconds;
  } while (spent < seconds);
  return best;
}

}  // namespace wm::lab
