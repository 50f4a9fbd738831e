#include "runtime/arbiter/quota_rule.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace wm::runtime {

QuotaRule::QuotaRule(const policy::Choice& choice, std::unique_ptr<policy::Policy> policy,
                     std::unique_ptr<QuotaMachine> machine, std::string log_file)
    : LaunchRule(choice, std::move(policy), std::move(machine), std::move(log_file)),
      machine_(static_cast<const QuotaMachine&>(this->machine())) {}

Result<std::unique_ptr<ProgramRule>> QuotaRule::make(const std::string& text, const std::string& log_file) {
  const auto choice = policy::choose(text);
  if (!choice) return choice.error();
  auto policy = policy::make(*choice, QuotaMachine::capabilities(), "device");
  if (!policy) return policy.error();
  return std::unique_ptr<ProgramRule>(
      new QuotaRule(*choice, std::move(*policy), std::make_unique<QuotaMachine>(), log_file));
}

void QuotaRule::complete(ProgramDecision& d, const Member& member) const {
  d.occupancy_percent = machine_.occupancy_percent(member.kernel);
  if (d.occupancy_percent < 100) d.modes |= kLimitBlocks;
  d.modes |= kDivideAlike;
  const auto left = machine_.launches_left(member.kernel);
  if (!left) return;
  d.modes |= kQuota;
  d.wait_microseconds = kWaitMicroseconds;
  // A launch may begin while the progress that the quota allows is beyond the launches that have begun.
  d.launch_limit = static_cast<std::uint64_t>(std::ceil(std::max(member.progress.total() + *left, 0.0)));
}

}  // namespace wm::runtime
