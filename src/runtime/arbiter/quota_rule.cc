#include "runtime/arbiter/quota_rule.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace wm::runtime {

QuotaRule::QuotaRule(const policy::Choice& choice, std::unique_ptr<policy::Policy> policy,
                     std::unique_ptr<QuotaMachine> machine, const std::string& log_file)
    : LaunchRule(choice, std::move(policy), std::move(machine), log_file),
      machine_(static_cast<const QuotaMachine&>(this->machine())) {}

Result<std::unique_ptr<ProgramRule>> QuotaRule::make(const std::string& text, const std::string& log_file) {
  const auto choice = policy::choose(text);
  if (!choice) return choice.error();
  auto policy = policy::make(*choice, QuotaMachine::capabilities(), "device");
  if (!policy) return policy.error();
  return std::unique_ptr<ProgramRule>(
      new QuotaRule(*choice, std::move(*policy), std::make_unique<QuotaMachine>(), log_file));
}

bool QuotaRule::has_neighbours(const Member& member) const {
  constexpr double kAlmost = 0.01;  // a launch with less than this part left has ended
  return std::any_of(members().begin(), members().end(), [&](const auto& entry) {
    const Member& other = entry.second;
    if (&other == &member || !other.is_active) return false;
    const bool runs = other.progress.total() + kAlmost < static_cast<double>(other.begun);
    return runs || machine_.launches_left(other.kernel).value_or(1) > 0;
  });
}

void QuotaRule::complete(ProgramDecision& d, const Member& member) const {
  if (has_neighbours(member)) {
    d.occupancy_percent = machine_.occupancy_percent(member.kernel);
    d.modes |= kDivideAlike | (d.occupancy_percent < 100 ? kLimitBlocks : 0U);
  }
  const auto left = machine_.launches_left(member.kernel);
  if (!left) return;
  d.modes |= kQuota;
  d.wait_microseconds = kWaitMicroseconds;
  // A launch may begin while the progress that the quota allows is beyond the launches that have begun.
  d.launch_limit = static_cast<std::uint64_t>(std::ceil(std::max(member.progress.total() + *left, 0.0)));
}

}  // namespace wm::runtime
