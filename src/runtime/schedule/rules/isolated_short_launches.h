// Under policies that decide on single SMs, short launches of an isolated client run unmodified, where they are faster
// than workers: they leave their SMs by themselves soon enough for a client that arrives.
//
// Beside other clients every launch that can be divided runs as workers, so that the policy's decisions hold for it. A
// client counts as isolated when no other has had kernels beside its own for 0.1 s: launches of others may come again,
// and each would wait for the unmodified ones. A kernel that runs unmodified goes on so until its launches are longer
// than the limit by a quarter, so that launches near the limit do not change their form each time.
#pragma once

#include "runtime/schedule/admission_rule.h"
#include "runtime/schedule/clock.h"

namespace wm::runtime {

class IsolatedShortLaunches final : public AdmissionRule {
 public:
  static std::unique_ptr<AdmissionRule> make(const AdmissionOptions& options, const Capabilities&, const Clock& clock) {
    const bool active = options.real_sms && options.isolated_short_launch > 0 && !options.pass_through;
    return active ? std::make_unique<IsolatedShortLaunches>(options.isolated_short_launch, clock) : nullptr;
  }

  // `limit`: nanoseconds below which a launch is short.
  IsolatedShortLaunches(double limit, const Clock& clock) : limit_(limit), clock_(clock) {}

  [[nodiscard]] std::string name() const override { return "isolated_short_launches"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool runs_unmodified(const LaunchQuery& query) const override;
  [[nodiscard]] bool may_pipeline(const LaunchQuery& query) const override;
  // Two launches below the limit, so that the device has one while the end of another is observed.
  [[nodiscard]] double pipeline_budget(bool isolated) const override { return isolated ? 2 * limit_ : 0; }

 private:
  [[nodiscard]] bool is_isolated(const LaunchQuery& query) const;

  const double limit_;
  const Clock& clock_;
};

}  // namespace wm::runtime
