#include "runtime/arbiter/launch_rule.h"

#include <algorithm>
#include <set>
#include <utility>

namespace wm::runtime {

namespace {

double launches_per_second(const PolicyProgram& program) {
  using Kind = ProgramGoal::Kind;
  const ProgramGoal& goal = program.state.goal;
  if (goal.kind == Kind::launches_per_second) return goal.value;
  return goal.kind == Kind::part_of_isolated_rate ? goal.value * program.isolated_rate : 0;
}

LaunchCountMachine::Arrival arrival(const PolicyProgram& program, policy::KernelId before) {
  // An isolated rate is needed for a goal that is a part of it; before it is known, the program has no goal.
  return {.priority = program.state.priority,
          .share = program.share,
          .goal = launches_per_second(program),
          .isolated = program.isolated_rate,
          .part = static_cast<double>(program.parts) / PolicyRule::kParts,
          .before = before};
}

}  // namespace

LaunchRule::LaunchRule(const policy::Choice& choice, std::unique_ptr<policy::Policy> policy,
                       std::unique_ptr<LaunchCountMachine> machine, const std::string& log_file)
    : name_(choice.to_string()),
      machine_(std::move(machine)),
      policy_(policy::with_decisions_in(log_file, std::move(policy), choice)) {
  tell(policy::Started{});
}

LaunchRule::~LaunchRule() = default;

void LaunchRule::end(const Member& member) {
  machine_->finish(member.kernel);
  tell(policy::KernelDone{member.kernel});
}

void LaunchRule::change_members(const std::vector<PolicyProgram>& programs) {
  bool has_changed = false;
  std::set<std::uint64_t> present;
  for (const PolicyProgram& p : programs) {
    present.insert(p.number);
    const auto [at, is_new] = members_.try_emplace(p.number, Member{policy::kNoKernel, {}});
    Member& member = at->second;
    // A program whose goal has just become known is another client for the policy: it decides anew.
    const bool has_goal = launches_per_second(p) > 0;
    const bool begins_goal = has_goal && !std::exchange(member.has_goal, has_goal);
    if (member.is_active == p.state.is_active && !(member.is_active && begins_goal)) continue;
    has_changed = true;
    if (member.is_active) end(member);
    if (begins_goal) member.kernel = policy::kNoKernel;
    member.is_active = p.state.is_active;
    if (!member.is_active) continue;
    member.kernel = machine_->arrive(arrival(p, member.kernel));
    tell(policy::KernelArrived{member.kernel});
  }
  for (auto at = members_.begin(); at != members_.end();) {
    const auto member = at++;
    if (present.contains(member->first)) continue;
    has_changed |= member->second.is_active;
    if (member->second.is_active) end(member->second);
    members_.erase(member);
  }
  if (has_changed) tell(policy::KernelSetChanged{});
  active_ = static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(), [](const auto& m) { return m.second.is_active; }));
}

std::vector<ProgramDecision> LaunchRule::decide(const std::vector<PolicyProgram>& programs, Cycles now) {
  const Cycles cycles{now.count / LaunchCountMachine::kNanosecondsPerCycle};
  machine_->set_now(std::max(cycles, machine_->now()));
  change_members(programs);
  for (const PolicyProgram& p : programs) {
    Member& member = members_.at(p.number);
    // The time in which launches waited is none in which they made progress.
    const auto without_waits = [&](std::uint64_t time) { return time - std::min(time, p.waited); };
    const double launched = member.progress.advance(p.launches, without_waits(p.launched_at), without_waits(now.count));
    member.begun = p.launches;
    if (!member.is_active) continue;
    machine_->update(member.kernel, arrival(p, member.kernel));
    machine_->launched(member.kernel, launched);
    observe(p, member);
  }
  machine_->deliver([this](const auto& event) { tell(event); });
  std::vector<ProgramDecision> decisions;
  decisions.reserve(programs.size());
  for (const PolicyProgram& p : programs) {
    ProgramDecision& d = decisions.emplace_back(decide_single(p.state));
    d.modes = kMeasure;
    prepare(d);
    const Member& member = members_.at(p.number);
    if (member.is_active && active_ >= 2) complete(d, member);
  }
  return decisions;
}

}  // namespace wm::runtime
