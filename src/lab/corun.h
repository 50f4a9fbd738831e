// One co-run: kernels together on a GPU under a policy, beside what each does alone.
//
// The numbers of `wm sim` and of every experiment come from here. A kernel's rate alone is measured on the same
// machine, by itself, with the same limit on cycles; runs that were made before are taken from a cache (alone.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "gpu/application.h"
#include "gpu/gpu_config.h"
#include "lab/alone.h"
#include "lab/residency.h"
#include "lab/watch.h"
#include "policy/registry.h"
#include "ptx/ir.h"
#include "sim/cycle/machine.h"

namespace wm::lab {

// A kernel as it takes part, with all that is needed to run and to verify it.
struct Participant {
  std::string name;
  std::shared_ptr<const ptx::Module> module;
  std::string ptx;  // the text the module was read from
  std::string ptx_file;
  std::shared_ptr<const gpu::Application> application;
  std::string entry;  // of several kernels the one that is timed; empty: all
  // Whether the buffers at the end of the application are right; none: cannot be said.
  std::function<Result<void>(const std::vector<std::vector<std::byte>>&)> verify;

  std::optional<double> goal;            // of its rate alone, as 0.9
  std::optional<double> goal_ipc;        // in place of it
  std::optional<Picoseconds> goal_time;  // or: its application is to end in that time, transfers included
  std::optional<double> goal_rate;       // or: so many runs of it a second
  int priority = 0;
  double share = 1;
  std::uint32_t blocks_per_sm = 0;  // at most so many on an SM; alone it has as many as fit. 0: no limit
  Cycles arrive;
  std::uint32_t launches = 1;  // 0: again and again to the end
};

struct CorunOptions {
  std::uint64_t cycles = 0;  // the run ends there; 0: when all are done
  bool match_instructions =
      false;  // each kernel stops at the instructions it executed alone (Warped-Slicer's protocol)
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
  bool alone = true;                  // measure rates alone, where a goal or the metrics need them
  AloneCache cache;                   // of those
  std::vector<Alone> known;           // rates alone, by participant, where they were measured before
  sim::Timeline* timeline = nullptr;  // is filled with the co-run
  // Told of each run (a kernel's name, or the policy's) and how far it is.
  std::function<void(const std::string& what, double done)> progress;
};

struct KernelResult {
  std::string name;
  sim::ClientTotals totals;
  double ipc = 0;
  double ipc_alone = 0;        // 0: not measured
  std::optional<double> goal;  // ipc
  std::optional<bool> verified;
  double joules = 0;  // dynamic

  [[nodiscard]] double normalized() const { return ipc_alone > 0 ? ipc / ipc_alone : 0; }
  [[nodiscard]] std::optional<bool> reached() const { return goal ? std::optional<bool>(ipc >= *goal) : std::nullopt; }
};

struct CorunResult {
  std::string gpu;
  std::string policy;  // with its parameters written out
  std::uint64_t cycles = 0;
  std::uint64_t seed = 0;
  std::uint32_t threads = 1;
  std::uint32_t sms = 0;
  std::uint32_t schedulers = 0;  // of an SM
  std::vector<KernelResult> kernels;
  Residency residency;
  double watts = 0;
  double joules = 0;
  double static_joules = 0;  // of those, for being on
  double instructions_per_joule = 0;
  double seconds = 0;            // of the host, for the co-run
  std::uint32_t alone_runs = 0;  // rates alone that had to be measured: not in the cache
  std::uint64_t run_hash = 0;    // of everything that was counted: equal runs have equal hashes
};

// A participant as the machine takes it; its goal and its rate alone in instructions a cycle.
sim::ClientSpec spec_of(const Participant& p, double goal, double isolated_ipc);

// What each does alone under these options, from the cache or measured now. `measured`, where given, is how many were.
Result<std::vector<Alone>> measure_alone(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                                         const CorunOptions& options, std::uint32_t* measured = nullptr);

Result<CorunResult> corun(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                          const policy::Choice& policy, const CorunOptions& options);

}  // namespace wm::lab
