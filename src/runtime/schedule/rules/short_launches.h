// Short launches run unmodified: dividing them costs more than it gives other clients.
#pragma once

#include "runtime/schedule/admission_rule.h"

namespace wm::runtime {

class ShortLaunches final : public AdmissionRule {
 public:
  static std::unique_ptr<AdmissionRule> make(const AdmissionOptions& options, const Capabilities& device,
                                             const Clock&) {
    const bool active = options.short_launch > 0 && !options.pass_through && !options.real_sms;
    return active ? std::make_unique<ShortLaunches>(options.short_launch, device.single_worker_batches) : nullptr;
  }

  // `limit`: nanoseconds while other clients have kernels; three times as much for an isolated client.
  // `only_isolated`: workers of other clients hold the compute units, so that an unmodified launch would wait for all.
  ShortLaunches(double limit, bool only_isolated) : limit_(limit), only_isolated_(only_isolated) {}

  [[nodiscard]] std::string name() const override { return "short_launches"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool runs_unmodified(const LaunchQuery& query) const override;
  [[nodiscard]] bool may_pipeline(const LaunchQuery& query) const override;
  [[nodiscard]] double pipeline_budget(bool isolated) const override { return isolated ? 3 * limit_ : limit_; }

 private:
  const double limit_;
  const bool only_isolated_;
};

}  // namespace wm::runtime
