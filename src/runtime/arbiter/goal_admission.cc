#include "runtime/arbiter/goal_admission.h"

#include <algorithm>
#include <fmt/format.h>

namespace wm::runtime {

using Kind = ProgramGoal::Kind;

std::string goal_text(const ProgramGoal& goal) {
  switch (goal.kind) {
    case Kind::none:
      return "";
    case Kind::p99_nanoseconds:
      return fmt::format("p99={:g}us", goal.value / 1000);
    case Kind::launches_per_second:
      return fmt::format("rate={:g}/s", goal.value);
    case Kind::part_of_isolated_rate:
      return fmt::format("{:g}", goal.value);
  }
  return "";
}

void GoalAdmission::learn(const std::string& name, const IsolatedResult& result) {
  IsolatedResult& entry = known_[name];
  if (result.p99 > 0) entry.p99 = result.p99;
  entry.rate = std::max(entry.rate, result.rate);
}

IsolatedResult GoalAdmission::known(const std::string& name) const {
  const auto at = known_.find(name);
  return at == known_.end() ? IsolatedResult{} : at->second;
}

double GoalAdmission::part_needed(const NamedGoal& asked) const {
  if (asked.goal.kind == Kind::part_of_isolated_rate) return asked.goal.value;
  const double rate = known(asked.name).rate;
  return asked.goal.kind == Kind::launches_per_second && rate > 0 ? asked.goal.value / rate : 0;
}

GoalAdmission::Answer GoalAdmission::check(const NamedGoal& asked, const std::vector<NamedGoal>& others,
                                           bool goals_exhausted) const {
  const ProgramGoal& goal = asked.goal;
  const IsolatedResult isolated = known(asked.name);
  const auto beyond = [&](const std::string& best) {
    return Answer{Verdict::never, fmt::format("the goal {} cannot be met: '{}' reaches {} by itself", goal_text(goal),
                                              asked.name, best)};
  };
  if (goal.kind == Kind::none) return {};
  if (goal.kind == Kind::p99_nanoseconds && isolated.p99 > goal.value)
    return beyond(fmt::format("p99={:.1f}us", isolated.p99 / 1000));
  if (goal.kind == Kind::launches_per_second && isolated.rate > 0 && goal.value > isolated.rate)
    return beyond(fmt::format("rate={:.0f}/s", isolated.rate));
  double taken = 0;
  for (const NamedGoal& other : others) taken += part_needed(other);
  const double needed = part_needed(asked), left = std::max(1 - taken, 0.0);
  if (needed > 0 && needed > left + 1e-9) {
    const std::string possible = goal.kind == Kind::launches_per_second
                                     ? fmt::format("rate={:.0f}/s", left * isolated.rate)
                                     : fmt::format("{:.2f}", left);
    return {Verdict::not_now, fmt::format("the goal {} cannot be met beside the goals of other programs, which need "
                                          "{:.2f} of the GPU: {} could be met",
                                          goal_text(goal), taken, possible)};
  }
  const bool has_others =
      std::any_of(others.begin(), others.end(), [](const NamedGoal& other) { return other.goal.kind != Kind::none; });
  if (has_others && goals_exhausted)
    return {Verdict::not_now,
            fmt::format("the goal {} cannot be met: the goals of other programs are missed already", goal_text(goal))};
  return {};
}

}  // namespace wm::runtime
