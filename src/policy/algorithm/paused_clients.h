// Clients of a policy's plan that pause between two launches.
//
// A client whose host computes between two launches leaves the set of active kernels and returns soon. A policy that
// planned anew each time would spend more time on plans than on work, so a plan holds for its clients while none of
// them has been absent for longer than a grace period. A client that the plan does not know ends it at once.
#pragma once

#include <map>
#include <vector>

#include "policy/machine.h"

namespace wm::policy {

class PausedClients {
 public:
  // The tag of the wake-ups that `postpones` requests, at which it is to be asked again.
  static constexpr std::uint64_t kTag = ~std::uint64_t{0};

  // `grace`: 0 where a client's absence ends the plan at once.
  explicit PausedClients(Cycles grace) : grace_(grace) {}

  // A plan is made for the clients that are active now.
  void note_plan(const Machine& gpu);
  // Whether other clients are active than those of the plan.
  [[nodiscard]] bool differs(const Machine& gpu) const;
  // Whether clients of the plan are absent, and may yet return within the grace period.
  [[nodiscard]] bool postpones(Machine& gpu);
  // The answer of the latest call of `postpones`.
  [[nodiscard]] bool some_absent() const { return some_absent_; }

 private:
  // Keeps the times since when clients of the plan are absent; the earliest, or `now` where none is.
  Cycles absent_since(const std::vector<KernelId>& active, Cycles now);

  Cycles grace_;
  std::vector<KernelId> planned_;      // in the order of their ids
  std::map<KernelId, Cycles> absent_;  // since when
  bool some_absent_ = false;
};

}  // namespace wm::policy
