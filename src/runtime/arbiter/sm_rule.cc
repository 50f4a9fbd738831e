#include "runtime/arbiter/sm_rule.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <numeric>
#include <set>

namespace wm::runtime {

namespace {

// A launch of a program without SMs waits so long at most, should this daemon end meanwhile.
constexpr std::uint32_t kWaitMicroseconds = 700'000;
constexpr std::size_t kLinesAtOnce = 64;

double launches_per_second(const PolicyProgram& program) {
  using Kind = ProgramGoal::Kind;
  const ProgramGoal& goal = program.state.goal;
  if (goal.kind == Kind::launches_per_second) return goal.value;
  return goal.kind == Kind::part_of_isolated_rate ? goal.value * program.isolated_rate : 0;
}

}  // namespace

SmRule::SmRule(const policy::Choice& choice, std::unique_ptr<policy::Policy> policy, SmGroups groups,
               std::string log_file)
    : name_(choice.to_string()),
      policy_(std::move(policy)),
      groups_(std::move(groups)),
      log_file_(std::move(log_file)),
      machine_(static_cast<std::uint32_t>(groups_.sms.size())),
      recorder_(machine_, choice.needs() | choice.entry->info.uses) {
  tell(policy::Started{});
}

SmRule::~SmRule() { write_log(); }

Result<std::unique_ptr<ProgramRule>> SmRule::make(const std::string& text, const SmGroups& groups,
                                                  const std::string& log_file) {
  const auto choice = policy::choose(text);
  if (!choice) return choice.error();
  if (groups.sms.empty()) return Error{"the driver does not tell how many SMs the GPU has"};
  auto policy = policy::make(*choice, ProgramMachine::capabilities(), "device");
  if (!policy) return policy.error();
  return std::unique_ptr<ProgramRule>(new SmRule(*choice, std::move(*policy), groups, log_file));
}

ProgramMachine::Arrival SmRule::arrival(const PolicyProgram& program, policy::KernelId before) const {
  // An isolated rate is needed for a goal that is a part of it; before it is known, the program has no goal.
  const auto all = static_cast<std::uint32_t>(groups_.sms.size());
  const std::uint32_t filled = (program.parts * all + PolicyRule::kParts - 1) / PolicyRule::kParts;
  return {.priority = program.state.priority,
          .share = program.share,
          .goal = launches_per_second(program),
          .isolated = program.isolated_rate,
          .groups = filled,
          .before = before};
}

void SmRule::end(const Member& member) {
  machine_.finish(member.kernel);
  tell(policy::KernelDone{member.kernel});
}

void SmRule::change_members(const std::vector<PolicyProgram>& programs) {
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
    member.kernel = machine_.arrive(arrival(p, member.kernel));
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

ProgramDecision SmRule::decision(const PolicyProgram& program) const {
  ProgramDecision d = decide_single(program.state);
  const Member& member = members_.at(program.number);
  d.modes = kMeasure;
  d.sms_of_group = groups_.sms_of_group;
  if (!member.is_active || active_ < 2) return d;
  const std::uint64_t mask = machine_.groups(member.kernel);
  d.sm_groups = mask;
  for (std::size_t i = 0; i < groups_.sms.size(); ++i) {
    d.all_sms += groups_.sms[i];
    if ((mask >> i & 1U) != 0) d.sms += groups_.sms[i];
  }
  if (d.sms == d.all_sms) return d;
  if (d.sms == 0) {
    d.modes |= kPause;
    d.wait_microseconds = kWaitMicroseconds;
    return d;
  }
  d.occupancy_percent = std::max(d.sms * 100 / d.all_sms, 1U);
  // Programs with SMs of their own keep their kernels' split of L1 cache and shared memory.
  d.modes |= groups_.has_green_contexts ? kPlace : kLimitBlocks | kDivideAlike;
  return d;
}

std::vector<ProgramDecision> SmRule::decide(const std::vector<PolicyProgram>& programs, Cycles now) {
  const Cycles cycles{now.count / ProgramMachine::kNanosecondsPerCycle};
  machine_.set_now(std::max(cycles, machine_.now()));
  change_members(programs);
  for (const PolicyProgram& p : programs) {
    Member& member = members_.at(p.number);
    const double launched = member.progress.advance(p.launches, p.launched_at, now.count);
    if (!member.is_active) continue;
    machine_.update(member.kernel, arrival(p, member.kernel));
    machine_.launched(member.kernel, launched);
    machine_.used(member.kernel, p.placed_groups);
  }
  machine_.deliver([this](const auto& event) { tell(event); });
  if (recorder_.lines() >= kLinesAtOnce) write_log();
  std::vector<ProgramDecision> decisions;
  decisions.reserve(programs.size());
  for (const PolicyProgram& p : programs) decisions.push_back(decision(p));
  return decisions;
}

void SmRule::write_log() {
  if (!log_file_.empty()) {
    if (std::FILE* file = std::fopen(log_file_.c_str(), "a")) {
      std::fputs(recorder_.everything().c_str(), file);
      std::fclose(file);
    }
  }
  recorder_.forget();
}

}  // namespace wm::runtime
