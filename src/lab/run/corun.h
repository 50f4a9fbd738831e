// One co-run: kernels together on a GPU under a policy, compared with the isolated run of each kernel.
//
// The numbers of `wm sim` and of every experiment are computed here. An isolated run uses the same machine and the same
// limit on cycles as the co-run; rates that were measured before are taken from a cache (isolated.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "lab/run/isolated.h"
#include "lab/run/measured_region.h"
#include "lab/run/participant.h"
#include "lab/run/residency.h"
#include "policy/registry.h"
#include "sim/cycle/machine.h"
#include "sim/cycle/timeline.h"

namespace wm::lab {

// Options of a run's execution. The first four fields come from its RunSpec; the others do not change its result.
struct CorunOptions {
  CorunOptions() = default;
  explicit CorunOptions(const RunSpec& spec)
      : cycles(spec.cycles),
        match_instructions(spec.match_instructions),
        seed(spec.seed),
        region{spec.warm, spec.from} {}

  std::uint64_t cycles = 0;
  bool match_instructions = false;
  std::uint64_t seed = 1;
  RegionStart region;                        // rates are computed from here on
  std::uint32_t threads = 1;                 // host threads
  bool keep_buffers = false;                 // put the buffers of finished applications into the result
  bool isolated = true;                      // measure isolated rates even where no goal needs them
  IsolatedCache cache;                       // cache of isolated rates
  std::vector<IsolatedRate> known_isolated;  // by participant, where they were measured before
  sim::Timeline* timeline = nullptr;         // is filled with the co-run
  std::string* decisions = nullptr;          // is filled with the policy's events and actions
  // Called with the name of a run (a kernel's, or the policy's) and the fraction of it that is done.
  std::function<void(const std::string& run, double done)> progress;
};

struct KernelResult {
  std::string name;
  sim::ClientTotals totals;
  double ipc = 0;
  double isolated_ipc = 0;     // 0: not measured
  std::optional<double> goal;  // ipc
  std::uint32_t runs = 0;      // complete runs of the application
  double starved = 0;          // the part of the run in which it had less than 5% of its isolated rate
  // Whether the output of its first complete run, and of its last where it ended by itself, equals the reference's.
  std::optional<bool> verified;
  std::string mismatch;                         // the first wrong element, where `verified` is false
  double joules = 0;                            // dynamic
  std::string printed;                          // by the first run of the application
  std::vector<std::vector<std::byte>> buffers;  // at the end, where CorunOptions::keep_buffers asks for them

  [[nodiscard]] double normalized() const { return isolated_ipc > 0 ? ipc / isolated_ipc : 0; }
  [[nodiscard]] std::optional<bool> reached() const { return goal ? std::optional<bool>(ipc >= *goal) : std::nullopt; }
};

struct CorunResult {
  std::string gpu;
  std::string policy;  // with all its parameters
  std::uint64_t cycles = 0;
  std::uint64_t measured_from = 0;  // cycle from which rates are computed
  std::uint64_t seed = 0;
  std::uint32_t threads = 1;
  std::uint32_t sms = 0;
  std::uint32_t schedulers = 0;  // per SM
  std::vector<KernelResult> kernels;
  Residency residency;
  double watts = 0;
  double joules = 0;
  double static_joules = 0;  // the part of `joules` that does not depend on the executed instructions
  double instructions_per_joule = 0;
  double seconds = 0;               // host time of the co-run
  std::uint32_t isolated_runs = 0;  // isolated rates that were measured because the cache did not have them
  std::uint64_t run_hash = 0;       // over everything that was counted: equal runs have equal hashes
};

// Over the cycles of the run and the totals of its kernels: equal runs have equal hashes.
[[nodiscard]] std::uint64_t run_hash(const CorunResult& result);

// Fills in energy and power, and the number of SMs and schedulers. `gated_cycles`: SMs were switched off, summed over
// SMs.
void add_energy(const gpu::GpuConfig& gpu, std::uint64_t gated_cycles, CorunResult& result);

// The isolated rate of each participant under these options, from the cache or measured now. `measured`, where given,
// is set to the number of rates that were measured.
Result<std::vector<IsolatedRate>> measure_isolated(const gpu::GpuConfig& gpu,
                                                   const std::vector<Participant>& participants,
                                                   const CorunOptions& options, std::uint32_t* measured = nullptr);

Result<CorunResult> corun(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                          const policy::Choice& policy, const CorunOptions& options);

}  // namespace wm::lab
