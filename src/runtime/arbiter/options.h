// The options of `wm serve --cuda`.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wm::runtime {

// How the processes of CUDA programs share the GPU: through one MPS server, which runs their kernels beside each other,
// or isolated, in time slices.
enum class Sharing { mps, isolated };

// The answer to a program whose goal cannot be met beside the goals of others.
enum class UnmetGoals { refuse, wait, accept };

// Kernels that pause in their loops while a latency-sensitive program has work: those of the others while such a
// program is active, or all kernels from their first launch on, to compare their results.
enum class Gates : std::uint32_t { none, beside_others, always };

// Kernels that run as workers on the SMs that a policy gives to their program: those of programs beside others, or all
// kernels from their first launch on, to compare their results.
enum class WorkerUse : std::uint32_t { none, beside_others, always };

// The SMs of the GPU in the groups that policies give to programs.
struct SmGroups {
  std::vector<std::uint32_t> sms;       // SMs of each group; empty: not known
  std::uint32_t sms_of_group = 8;       // SMs of every group but the last, which has the rest
  bool has_green_contexts = false;      // the driver can run kernels on some of the groups only
  WorkerUse workers = WorkerUse::none;  // other than none: no green contexts are used

  [[nodiscard]] std::uint32_t all() const { return std::accumulate(sms.begin(), sms.end(), std::uint32_t{0}); }
  // The same SMs in groups of two, as the GPU has them: a process that has one of the two sees the other's number
  // taken.
  [[nodiscard]] SmGroups for_workers(WorkerUse how) const {
    std::vector<std::uint32_t> pairs(all() / 2, 2);
    if (all() % 2 != 0) pairs.push_back(1);
    return {std::move(pairs), 2, has_green_contexts, how};
  }
};

struct ArbiterOptions {
  std::string socket;
  unsigned mode = 0600;
  Sharing sharing = Sharing::isolated;
  std::string pipe_folder;          // an MPS daemon's; empty: there is none
  std::string policy;               // a policy of `wm policies`, for Sharing::mps; empty: decision.h decides
  std::uint64_t client_memory = 0;  // device memory of a program in bytes, which `wm run` enforces; 0: no limit
  SmGroups sm_groups;
  std::string decisions_file;  // the policy's events and decisions are appended to it; empty: none
  std::uint64_t threads = 0;   // threads that the GPU holds at once; 0: not known
  // While a latency-sensitive program is active, others leave this part of every SM free (empty: as much as max_loss
  // allows), and their time slices have this length.
  std::optional<std::uint32_t> headroom_percent;
  std::uint32_t slice_microseconds = 100;
  // The part of their rate that others may lose to a latency-sensitive program without a goal; empty: the default of
  // the kind of sharing (loss_control.h).
  std::optional<double> max_loss;
  Gates gates = Gates::none;  // with Sharing::mps
  UnmetGoals unmet_goals = UnmetGoals::refuse;
  // The longest time for which a launch waits while a latency-sensitive program has work; 0: launches do not wait.
  std::uint32_t wait_microseconds = 0;
};

}  // namespace wm::runtime
