// A policy of `wm policies` on CUDA programs that share the GPU through MPS: an active program is a kernel of a
// LaunchCountMachine. Derived rules say how a program follows the policy.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "policy/logged_policy.h"
#include "runtime/arbiter/launch_count_machine.h"
#include "runtime/arbiter/launch_progress.h"
#include "runtime/arbiter/policy_rule.h"

namespace wm::runtime {

class LaunchRule : public ProgramRule {
 public:
  ~LaunchRule() override;
  LaunchRule(const LaunchRule&) = delete;
  LaunchRule& operator=(const LaunchRule&) = delete;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::vector<ProgramDecision> decide(const std::vector<PolicyProgram>& programs, Cycles now) override;

 protected:
  struct Member {
    policy::KernelId kernel;
    LaunchProgress progress;
    std::uint64_t begun = 0;  // launches
    bool is_active = false, has_goal = false;
  };

  // A launch that waits goes on after this time, should this daemon end meanwhile.
  static constexpr std::uint32_t kWaitMicroseconds = 700'000;

  LaunchRule(const policy::Choice& choice, std::unique_ptr<policy::Policy> policy,
             std::unique_ptr<LaunchCountMachine> machine, const std::string& log_file);
  [[nodiscard]] LaunchCountMachine& machine() const { return *machine_; }
  [[nodiscard]] const std::map<std::uint64_t, Member>& members() const { return members_; }
  // The program has launched.
  virtual void observe(const PolicyProgram&, const Member&) {}
  // Adds to a decision for an active program beside others.
  virtual void complete(ProgramDecision& decision, const Member& member) const = 0;
  // Adds to a decision for any program.
  virtual void prepare(ProgramDecision&) const {}

 private:
  template <typename Event>
  void tell(const Event& event) {
    policy_->on(event, *machine_);
  }
  void end(const Member& member);
  // Programs that became active or idle.
  void change_members(const std::vector<PolicyProgram>& programs);

  const std::string name_;
  const std::unique_ptr<LaunchCountMachine> machine_;
  const std::unique_ptr<policy::Policy> policy_;
  std::map<std::uint64_t, Member> members_;  // by the program's number
  std::size_t active_ = 0;
};

}  // namespace wm::runtime
