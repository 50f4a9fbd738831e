// The length of a co-run whose kernels repeat to its end and for which no length is given.
//
// It is the number of kernels times the longest isolated run of one of them: with an equal division of time, every
// kernel completes a run. The length does not depend on the policy. Therefore runs under several policies cover the
// same cycles, and a policy that lets a kernel starve ends like the others.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "lab/run/corun.h"

namespace wm::lab {

// Whether a kernel of the run repeats and nothing says when the run ends.
[[nodiscard]] bool needs_length(const RunSpec& spec);

// `longest_run` is in cycles. The run is longer by its warm-up, by the last arrival, and by the time of the launches
// that precede its region of interest.
[[nodiscard]] std::uint64_t steady_length(const RunSpec& spec, std::uint64_t longest_run);

// Cycles of the longest isolated run of a participant; a kernel that repeats runs once. The runs are taken from the
// cache, or measured now and stored there.
Result<std::uint64_t> longest_isolated_run(const gpu::GpuConfig& gpu, std::vector<Participant> participants,
                                           CorunOptions options);

}  // namespace wm::lab
