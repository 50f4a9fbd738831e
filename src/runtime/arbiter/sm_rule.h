// A policy of `wm policies` that gives SMs to kernels, on CUDA programs that share the GPU through MPS.
//
// An active program is a kernel of the ProgramMachine, and its groups of SMs are those on which its launches run, in a
// green context. Where the driver has no green contexts, a program gets the part of every SM that corresponds to its
// groups.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "policy/record.h"
#include "runtime/arbiter/launch_progress.h"
#include "runtime/arbiter/options.h"
#include "runtime/arbiter/policy_rule.h"
#include "runtime/arbiter/program_machine.h"

namespace wm::runtime {

class SmRule final : public ProgramRule {
 public:
  static Result<std::unique_ptr<ProgramRule>> make(const std::string& text, const SmGroups& groups,
                                                   const std::string& log_file);
  ~SmRule() override;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::vector<ProgramDecision> decide(const std::vector<PolicyProgram>& programs, Cycles now) override;

 private:
  SmRule(const policy::Choice& choice, std::unique_ptr<policy::Policy> policy, SmGroups groups, std::string log_file);
  struct Member {
    policy::KernelId kernel;
    LaunchProgress progress;
    bool is_active = false, has_goal = false;
  };
  template <typename Event>
  void tell(const Event& event) {
    recorder_.tell(*policy_, event);
  }
  void end(const Member& member);
  // Programs that became active or idle.
  void change_members(const std::vector<PolicyProgram>& programs);
  [[nodiscard]] ProgramMachine::Arrival arrival(const PolicyProgram& program, policy::KernelId before) const;
  [[nodiscard]] ProgramDecision decision(const PolicyProgram& program) const;
  void write_log();

  const std::string name_;
  const std::unique_ptr<policy::Policy> policy_;
  const SmGroups groups_;
  const std::string log_file_;
  ProgramMachine machine_;
  policy::Recorder recorder_;
  std::map<std::uint64_t, Member> members_;  // by the program's number
  std::size_t active_ = 0;
};

}  // namespace wm::runtime
