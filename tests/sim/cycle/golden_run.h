// Runs whose cycles and counters are written down in golden_timing.csv.
#pragma once

#include <map>
#include <string>

#include "sim/cycle/bench_kernel.h"

namespace wm::sim {

// A client that launches a kernel with this body over a buffer of numbers; see kernel_text.
ClientSpec golden_client(const std::string& name, const std::string& body, std::uint32_t blocks,
                         std::uint32_t launches);

// Runs the machine under a policy; cycles, and a digest of every counter and of the policy's log.
std::string outcome(CycleMachine& machine, const std::string& policy_text, std::uint64_t cycles);

// Compares with the row of golden_timing.csv; prints `row` with WM_GOLDEN_TIMING in the environment.
void expect_golden(const std::string& name, const std::string& row);

}  // namespace wm::sim
