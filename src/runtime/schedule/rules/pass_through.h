// The device's own order: launches go to it as they come, undivided. `wm serve --policy fifo`.
#pragma once

#include "runtime/schedule/admission_rule.h"

namespace wm::runtime {

class PassThrough final : public AdmissionRule {
 public:
  static std::unique_ptr<AdmissionRule> make(const AdmissionOptions& options, const Capabilities&, const Clock&) {
    return options.pass_through ? std::make_unique<PassThrough>() : nullptr;
  }

  [[nodiscard]] std::string name() const override { return "pass_through"; }
  [[nodiscard]] std::string description() const override {
    return "launches go to the device in the order they come, undivided";
  }
  [[nodiscard]] bool may_pipeline(const LaunchQuery&) const override { return true; }
  [[nodiscard]] bool bypasses_policy() const override { return true; }
};

}  // namespace wm::runtime
