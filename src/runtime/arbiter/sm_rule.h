// A policy of `wm policies` that gives SMs to kernels, on CUDA programs.
//
// A program's groups of SMs are those on which its launches run, in a green context, or its kernels as workers. Where
// the driver has no green contexts, and for kernels that cannot be workers, a program gets the part of every SM that
// corresponds to its groups.
#pragma once

#include <memory>
#include <string>

#include "runtime/arbiter/launch_rule.h"
#include "runtime/arbiter/options.h"
#include "runtime/arbiter/program_machine.h"

namespace wm::runtime {

class SmRule final : public LaunchRule {
 public:
  static Result<std::unique_ptr<ProgramRule>> make(const std::string& text, const SmGroups& groups,
                                                   const std::string& log_file);

 private:
  SmRule(const policy::Choice& choice, std::unique_ptr<policy::Policy> policy, SmGroups groups,
         std::unique_ptr<ProgramMachine> machine, const std::string& log_file);
  void observe(const PolicyProgram& program, const Member& member) override;
  void prepare(ProgramDecision& decision) const override;
  void complete(ProgramDecision& decision, const Member& member) const override;

  ProgramMachine& machine_;
  const SmGroups groups_;
};

}  // namespace wm::runtime
