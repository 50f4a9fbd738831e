#include "runtime/arbiter/policy_rule.h"

#include <algorithm>

namespace wm::runtime {

namespace {

constexpr gpu::Resources kPart{.threads = 64, .registers = 2048, .shared_bytes = 7168, .blocks = 1};

gpu::SmLimits limits() {
  constexpr std::uint32_t kCount = PolicyRule::kParts;
  return {.total = {kPart.threads * kCount, kPart.registers * kCount, kPart.shared_bytes * kCount, kCount}};
}

// Nanoseconds that a window counts as; only ratios to it matter.
constexpr double kRateWindow = 5e8;

}  // namespace

PolicyRule::PolicyRule(std::string name, std::unique_ptr<policy::Policy> policy)
    : name_(std::move(name)), policy_(std::move(policy)), machine_(limits(), 1) {
  policy_->on(policy::Started{}, machine_);
}

Result<std::unique_ptr<ProgramRule>> PolicyRule::make(const std::string& text) {
  const auto choice = policy::choose(text);
  if (!choice) return choice.error();
  auto policy = policy::make(*choice, DeviceMachine::capabilities(), "device");
  if (!policy) return policy.error();
  return std::unique_ptr<ProgramRule>(new PolicyRule(choice->to_string(), std::move(*policy)));
}

void PolicyRule::arrive(const PolicyProgram& program) {
  const std::uint32_t parts = program.parts == 0 ? kParts : std::min(program.parts, kParts);
  RuntimeMachine::KernelArrival launch{.priority = program.state.priority,
                                       .share = program.share,
                                       .footprint = kPart,
                                       .groups = parts,
                                       .divisible = true,
                                       .stream = program.number};
  // A window takes as long as it takes; the goal and the isolated time are relative to what it reached.
  if (program.state.goal.kind == ProgramGoal::Kind::p99_nanoseconds) {
    const double reached = program.p99 > 0 ? program.p99 : program.state.goal.value;
    launch.goal_nanoseconds = kRateWindow * program.state.goal.value / reached;
    launch.isolated_nanoseconds = kRateWindow * program.isolated_p99 / reached;
  }
  const policy::KernelId kernel = machine_.arrive(launch);
  members_[program.number] = {kernel, parts};
  policy_->on(policy::KernelArrived{kernel}, machine_);
}

void PolicyRule::finish_all() {
  const auto ended = std::exchange(members_, {});
  for (const auto& [number, member] : ended) {
    machine_.finish(member.kernel);
    policy_->on(policy::KernelDone{member.kernel}, machine_);
  }
}

bool PolicyRule::has_changed(const std::vector<PolicyProgram>& programs) const {
  std::size_t active = 0;
  for (const PolicyProgram& p : programs) {
    if (!p.state.is_active) continue;
    ++active;
    const auto member = members_.find(p.number);
    if (member == members_.end() || p.window_ended) return true;
    if (p.parts != 0 && std::min(p.parts, kParts) != member->second.parts) return true;
  }
  return active != members_.size();
}

void PolicyRule::settle() {
  for (const auto& [number, member] : members_) {
    const std::uint32_t allowed = machine_.allowed(member.kernel), held = machine_.holds(member.kernel);
    if (held > allowed) machine_.left(member.kernel, held - allowed, 0);
  }
  machine_.dispatch([](policy::KernelId, std::uint32_t) {});
}

std::vector<ProgramDecision> PolicyRule::decide(const std::vector<PolicyProgram>& programs, Cycles now) {
  machine_.set_now(std::max(now, machine_.now()));
  if (has_changed(programs)) {
    finish_all();
    for (const PolicyProgram& program : programs) {
      if (program.state.is_active) arrive(program);
    }
    policy_->on(policy::KernelSetChanged{}, machine_);
  }
  machine_.fire_due_alarms(*policy_);
  settle();
  std::vector<ProgramDecision> decisions(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    ProgramDecision& d = decisions[i];
    d = decide_single(programs[i].state);
    const auto member = members_.find(programs[i].number);
    if (programs.size() < 2) continue;
    d.modes = kMeasure;
    if (member == members_.end() || members_.size() < 2) continue;
    d.modes |= kDivideAlike;
    const std::uint32_t allowed = machine_.allowed(member->second.kernel);
    // A program that fills only a part of an SM cannot use more than that; others get a limit.
    if (allowed >= kParts || (programs[i].parts != 0 && allowed >= member->second.parts)) continue;
    d.modes |= kLimitBlocks;
    d.occupancy_percent = std::max(allowed * 100 / kParts, 1U);
  }
  return decisions;
}

}  // namespace wm::runtime
