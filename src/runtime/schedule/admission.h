// Applies the admission rules (admission_rule.h) to a launch: whether it waits for the policy or follows its client's
// earlier commands, and whether it runs divided or unmodified. Guarded by the scheduler's lock.
#pragma once

#include <memory>
#include <vector>

#include "runtime/schedule/admission_rule.h"
#include "runtime/schedule/clock.h"

namespace wm::runtime {

using AdmissionRules = std::vector<std::unique_ptr<AdmissionRule>>;
// The active rules of rules/, in the order of their names.
[[nodiscard]] AdmissionRules make_admission_rules(const AdmissionOptions& options, const Capabilities& device,
                                                  const Clock& clock);

class Admission {
 public:
  Admission(AdmissionRules rules, const ActiveKernels& kernels) : rules_(std::move(rules)), kernels_(kernels) {}

  // Whether the command may be put on its device queue behind `before`, which is there.
  [[nodiscard]] bool may_follow(const Command& command, const Command& before) const;
  [[nodiscard]] bool runs_unmodified(const Command& command) const;
  // Whether a launch of an isolated client would run unmodified, if the device's compiler had it ready.
  [[nodiscard]] bool prefers_unmodified(const LaunchPlan& plan) const;
  // Whether a launch behind a command on the device queue is pipelined; otherwise the policy decides on it.
  [[nodiscard]] bool is_pipelined(const Command& command) const;
  [[nodiscard]] bool bypasses_policy() const;
  // The launch starts before those that wait for room, undivided.
  [[nodiscard]] bool starts_at_once(const Command& command) const;
  // How the launch, which goes to the device now, shares it with others.
  [[nodiscard]] LaunchSharing sharing(const Command& command) const;
  // Tells the rules of a launch, unmodified or as workers.
  void note_launch(const Command& command) const;
  // Whether further launches may be pipelined now. True only for several at once, since observing a completion costs
  // time.
  [[nodiscard]] bool wants_refill(const Client& client) const;
  [[nodiscard]] CommandPtr makes_room() const;

  [[nodiscard]] const AdmissionRules& rules() const { return rules_; }
  void set_rules(AdmissionRules rules) { rules_ = std::move(rules); }

 private:
  [[nodiscard]] LaunchQuery query(const Command& command, double ahead) const;
  [[nodiscard]] bool may_follow_workers(const Command& command, const Command& before) const;
  // Whether the launch runs unmodified although it could follow workers as workers.
  [[nodiscard]] bool changes_form(const Command& command) const;

  AdmissionRules rules_;
  const ActiveKernels& kernels_;
};

}  // namespace wm::runtime
