// Launches that cannot be divided follow each other at once while their client is isolated: no other client could
// use the device between them.
#pragma once

#include "runtime/schedule/admission_rule.h"

namespace wm::runtime {

class PipelineUndivided final : public AdmissionRule {
 public:
  static std::unique_ptr<AdmissionRule> make(const AdmissionOptions& options, const Capabilities&, const Clock&) {
    return options.pass_through ? nullptr : std::make_unique<PipelineUndivided>();
  }

  [[nodiscard]] std::string name() const override { return "pipeline_undivided"; }
  [[nodiscard]] std::string description() const override {
    return "launches of an isolated client whose kernel was not rewritten are pipelined";
  }
  [[nodiscard]] bool may_pipeline(const LaunchQuery& query) const override {
    return query.isolated && !query.plan.form->workers;
  }
};

}  // namespace wm::runtime
