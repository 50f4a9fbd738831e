// How a launch enters the device: through the policy, behind its client's earlier commands, divided or unmodified. The
// rules decide (admission_rule.h); this class asks them. Guarded by the scheduler's lock.
#pragma once

#include <memory>
#include <vector>

#include "runtime/schedule/admission_rule.h"

namespace wm::runtime {

struct AdmissionOptions {
  bool pass_through = false;
  double short_launch = 100'000;  // nanoseconds; 0: every launch that can be divided is
};

using AdmissionRules = std::vector<std::unique_ptr<AdmissionRule>>;
[[nodiscard]] AdmissionRules make_admission_rules(const AdmissionOptions& options, const Capabilities& device);

class Admission {
 public:
  Admission(AdmissionRules rules, const ActiveKernels& kernels) : rules_(std::move(rules)), kernels_(kernels) {}

  // Whether it may be put on its device queue behind its client's earlier commands.
  [[nodiscard]] bool may_follow(const Command& command) const;
  [[nodiscard]] bool runs_unmodified(const Command& command) const;
  // Whether a launch of an isolated client would run unmodified, if the device's compiler had it ready.
  [[nodiscard]] bool prefers_unmodified(const LaunchPlan& plan) const;
  // A launch behind a command on the device queue is pipelined, or arrives at the policy.
  [[nodiscard]] bool is_pipelined(const Command& command) const;
  [[nodiscard]] bool bypasses_policy() const;
  // Further launches may be pipelined now. Several at once, since each completion that is observed costs time.
  [[nodiscard]] bool wants_refill(const Client& client) const;
  [[nodiscard]] CommandPtr makes_room() const;

  [[nodiscard]] const AdmissionRules& rules() const { return rules_; }

 private:
  [[nodiscard]] LaunchQuery query(const Command& command, double ahead) const;

  const AdmissionRules rules_;
  const ActiveKernels& kernels_;
};

}  // namespace wm::runtime
