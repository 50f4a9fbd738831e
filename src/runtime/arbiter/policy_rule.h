// A policy of `wm policies` on CUDA programs that share the GPU through MPS.
//
// An active program is a kernel of the device Machine, and the GPU is one SM of kParts parts: a program asks for as
// many parts as its largest launch fills of an SM, and the policy's cap on them is the part of every SM that its blocks
// may have. A program with a goal is a kernel launched anew with every window of its requests, so that policies compare
// what it reached with its goal.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/registry.h"
#include "runtime/arbiter/decision.h"
#include "runtime/schedule/device_machine.h"

namespace wm::runtime {

struct PolicyProgram {
  std::uint64_t number = 0;
  ProgramState state;
  double share = 1;
  std::uint32_t parts = 0;    // parts of an SM that its largest launch fills; 0: not known
  double p99 = 0;             // the last window of its requests, in nanoseconds; 0: there was none
  bool window_ended = false;  // that window has just ended
  double isolated_p99 = 0;    // the same while no other program was active; 0: not known
  double isolated_rate = 0;   // launches per second, likewise
  std::uint64_t launches = 0;
  std::uint64_t launched_at = 0;  // the time of the last one in nanoseconds; 0: not known
  std::uint64_t waited = 0;       // nanoseconds for which its launches have waited until the last one began
  SmSet used_groups{};            // the groups of SMs of its last launch; empty: not known
  // SMs of others that its workers have not left since the last decision; empty: not known.
  std::optional<std::uint32_t> leaving_sms{};
};

// Decides with a policy of `wm policies`.
class ProgramRule {
 public:
  virtual ~ProgramRule() = default;
  // With its parameters, as shown to users.
  [[nodiscard]] virtual const std::string& name() const = 0;
  // `now` in nanoseconds.
  [[nodiscard]] virtual std::vector<ProgramDecision> decide(const std::vector<PolicyProgram>& programs, Cycles now) = 0;
};

class PolicyRule final : public ProgramRule {
 public:
  static constexpr std::uint32_t kParts = 32;

  static Result<std::unique_ptr<ProgramRule>> make(const std::string& text);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::vector<ProgramDecision> decide(const std::vector<PolicyProgram>& programs, Cycles now) override;

 private:
  PolicyRule(std::string name, std::unique_ptr<policy::Policy> policy);
  struct Member {
    policy::KernelId kernel;
    std::uint32_t parts = 0;
  };
  // Whether the policy has to decide again: a program has come, gone or grown, or a window has ended.
  [[nodiscard]] bool has_changed(const std::vector<PolicyProgram>& programs) const;
  void arrive(const PolicyProgram& program);
  void finish_all();
  // Gives the programs the parts that the policy allows them.
  void settle();

  const std::string name_;
  const std::unique_ptr<policy::Policy> policy_;
  DeviceMachine machine_;
  std::map<std::uint64_t, Member> members_;  // active programs, by number
};

}  // namespace wm::runtime
