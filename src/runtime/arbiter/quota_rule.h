// A policy of `wm policies` that sets quotas, on CUDA programs: a launch beyond its program's quota waits.
#pragma once

#include <memory>
#include <string>

#include "runtime/arbiter/launch_rule.h"
#include "runtime/arbiter/quota_machine.h"

namespace wm::runtime {

class QuotaRule final : public LaunchRule {
 public:
  static Result<std::unique_ptr<ProgramRule>> make(const std::string& text, const std::string& log_file);

 private:
  QuotaRule(const policy::Choice& choice, std::unique_ptr<policy::Policy> policy, std::unique_ptr<QuotaMachine> machine,
            const std::string& log_file);
  void complete(ProgramDecision& decision, const Member& member) const override;
  // Whether another program has a launch on the GPU or may begin one. Where none has, a limit of blocks would leave SMs
  // empty.
  [[nodiscard]] bool has_neighbours(const Member& member) const;

  const QuotaMachine& machine_;
};

}  // namespace wm::runtime
