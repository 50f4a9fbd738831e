// Under policies that decide on single SMs, launches run unmodified while their kernels have the same caps on all SMs:
// these caps hold without workers (undivided_caps.h), which cost a part of a kernel's speed.
//
// An undivided launch cannot be stopped, so that a client that arrives, or a measurement that needs other caps, waits
// for its end. Only launches that are expected to be over soon run so.
#pragma once

#include <fmt/format.h>

#include "runtime/schedule/admission_rule.h"

namespace wm::runtime {

class CappedLaunches final : public AdmissionRule {
 public:
  static std::unique_ptr<AdmissionRule> make(const AdmissionOptions& options, const Capabilities& device,
                                             const Clock&) {
    const bool active = options.real_sms && options.capped_launch > 0 && device.shares_launches;
    return active && !options.pass_through ? std::make_unique<CappedLaunches>(options.capped_launch) : nullptr;
  }

  // `limit`: nanoseconds below which a launch may run unmodified.
  explicit CappedLaunches(double limit) : limit_(limit) {}

  [[nodiscard]] std::string name() const override { return "capped_launches"; }
  [[nodiscard]] std::string description() const override {
    return fmt::format(
        "launches below {:g} µs of kernels whose caps are the same on all SMs run unmodified and pipelined, with their "
        "caps kept by shared memory",
        limit_ * 1e-3);
  }
  [[nodiscard]] bool runs_unmodified(const LaunchQuery& query) const override {
    return query.is_capped_alike && query.expected && *query.expected < limit_;
  }
  [[nodiscard]] bool may_pipeline(const LaunchQuery& query) const override {
    return query.plan.may_run_unmodified && runs_unmodified(query) && *query.expected + query.ahead < 2 * limit_;
  }
  [[nodiscard]] double pipeline_budget(bool isolated) const override { return isolated ? 0 : 2 * limit_; }

 private:
  const double limit_;
};

}  // namespace wm::runtime
