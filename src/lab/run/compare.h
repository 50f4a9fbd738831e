// The same co-run under several policies. Isolated rates are measured once. A policy that has no decision to make for
// these kernels is left out, with the reason.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/run/corun.h"
#include "lab/run/metrics.h"

namespace wm::lab {

// A policy that was not run, or that could not end its run.
struct Unfit {
  std::string policy;
  std::string why;
};

struct PolicyList {
  std::vector<policy::Choice> fit;
  std::vector<Unfit> unfit;
};

// The policies that `words` name (NAME[:parameter=value]…, or "all"), each once, separated into those that fit and
// those that do not. A word that names no policy is an error.
Result<PolicyList> policies_for(const std::vector<std::string>& words, const std::vector<Participant>& participants);

struct ComparedRun {
  CorunResult result;
  std::unique_ptr<sim::Timeline> timeline;  // where requested
};

struct Comparison {
  std::vector<ComparedRun> runs;  // best first: goals reached, least starvation, smallest worst slowdown
  std::vector<Unfit> unfit;
};

// `interval` is that of the timelines in cycles; 0: no timelines are kept.
Result<Comparison> compare(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                           const PolicyList& policies, CorunOptions options, std::uint64_t interval);

}  // namespace wm::lab
