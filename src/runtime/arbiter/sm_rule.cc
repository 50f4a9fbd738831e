#include "runtime/arbiter/sm_rule.h"

#include <algorithm>
#include <utility>

namespace wm::runtime {

SmRule::SmRule(const policy::Choice& choice, std::unique_ptr<policy::Policy> policy, SmGroups groups,
               std::unique_ptr<ProgramMachine> machine, const std::string& log_file)
    : LaunchRule(choice, std::move(policy), std::move(machine), log_file),
      machine_(static_cast<ProgramMachine&>(this->machine())),
      groups_(std::move(groups)) {}

Result<std::unique_ptr<ProgramRule>> SmRule::make(const std::string& text, const SmGroups& groups,
                                                  const std::string& log_file) {
  const auto choice = policy::choose(text);
  if (!choice) return choice.error();
  if (groups.sms.size() > SmSet().size()) return Error{"the GPU has more SMs than are supported"};
  if (groups.sms.empty()) return Error{"the driver does not tell how many SMs the GPU has"};
  auto policy = policy::make(*choice, ProgramMachine::capabilities(), "device");
  if (!policy) return policy.error();
  auto machine = std::make_unique<ProgramMachine>(static_cast<std::uint32_t>(groups.sms.size()));
  return std::unique_ptr<ProgramRule>(new SmRule(*choice, std::move(*policy), groups, std::move(machine), log_file));
}

void SmRule::observe(const PolicyProgram& program, const Member& member) {
  if (groups_.workers == WorkerUse::none) {
    machine_.used(member.kernel, program.used_groups);
  } else if (program.leaving_sms) {
    machine_.leaves(member.kernel, (*program.leaving_sms + groups_.sms_of_group - 1) / groups_.sms_of_group);
  } else {
    machine_.used(member.kernel, {});
  }
}

void SmRule::complete(ProgramDecision& d, const Member& member) const {
  const SmSet owned = machine_.groups(member.kernel);
  d.sms = d.all_sms = 0;
  for (std::size_t i = 0; i < groups_.sms.size(); ++i) {
    d.all_sms += groups_.sms[i];
    if (owned[i]) d.sms += groups_.sms[i];
  }
  const bool has_workers = groups_.workers != WorkerUse::none;
  if (has_workers) {
    // Also where a program has all SMs: its kernels must be able to leave some.
    d.modes |= kWorkers;
  } else {
    d.sm_groups = (owned & SmSet(~std::uint64_t{0})).to_ullong();
  }
  if (d.sms == d.all_sms) return;
  if (d.sms == 0) {
    d.modes |= kPause;
    d.wait_microseconds = kWaitMicroseconds;
    return;
  }
  d.occupancy_percent = std::max(d.sms * 100 / d.all_sms, 1U);
  if (has_workers) return;
  // Programs with SMs of their own keep their kernels' split of L1 cache and shared memory.
  d.modes |= groups_.has_green_contexts ? kPlace : kLimitBlocks | kDivideAlike;
}

void SmRule::prepare(ProgramDecision& d) const {
  if (groups_.workers == WorkerUse::none) {
    d.sms_of_group = groups_.sms_of_group;
  } else if (groups_.workers == WorkerUse::always) {
    d.modes |= kWorkers;
    d.sms = d.all_sms = groups_.all();
  }
}

}  // namespace wm::runtime
