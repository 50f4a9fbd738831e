#include "runtime/schedule/admission.h"

#include <algorithm>

namespace wm::runtime {
namespace {

constexpr std::uint32_t kMaxPipelined = 32;
// Enough to keep a GPU busy with launches of some microseconds. When workers come too soon, those behind them do, too.
constexpr std::uint32_t kMaxPipelinedWorkers = 8;

}  // namespace

LaunchQuery Admission::query(const Command& command, double ahead) const {
  return {*command.launch,
          expected_nanoseconds(*command.launch),
          ahead,
          kernels_.is_isolated(*command.client),
          command.client->state.statistics.priority,
          kernels_.shared_until(),
          command.queue && command.queue->undivided_cap,
          kernels_.has_device(*command.client)};
}

// Workers may be submitted again, and later commands of the device queue would overtake them. Workers with limits by
// compute unit find out for themselves whether the launch before them is complete.
bool Admission::may_follow_workers(const Command& command, const Command& before) const {
  if (!before.workers->may_be_followed() || !command.launch || command.launch->prints) return false;
  return command.client->state.pipelined_launches < kMaxPipelinedWorkers &&
         worker_local_size(*command.launch).has_value();
}

// The launch waits for the workers before it, which costs more than running it as workers would, so only a queue whose
// launches have been short for a while changes. Caps are decided for long, so a queue changes at once with them.
bool Admission::changes_form(const Command& command) const {
  if (!command.launch) return false;
  const bool may_change = command.queue->undivided_cap || command.queue->short_launches >= kMaxPipelinedWorkers;
  return may_change && runs_unmodified(command);
}

bool Admission::may_follow(const Command& command, const Command& before) const {
  if (!runs_on_device(command.type) || command.blocking_transfer || !command.queue || !command.queue->in_order) {
    return false;
  }
  if (before.workers) return !changes_form(command) && may_follow_workers(command, before);
  if (!command.launch) return true;
  // A client whose turn has ended would keep the device with launches that the policy does not see in time.
  if (command.launch->prints || (command.queue->is_held && !bypasses_policy())) return false;
  const ClientState& client = command.client->state;
  if (!bypasses_policy() && client.pipelined_launches >= kMaxPipelined) return false;
  const LaunchQuery launch = query(command, client.pipelined_nanoseconds);
  return std::any_of(rules_.begin(), rules_.end(), [&](const auto& rule) { return rule->may_pipeline(launch); });
}

bool Admission::runs_unmodified(const Command& command) const {
  if (!command.launch->may_run_unmodified) return false;
  const LaunchQuery launch = query(command, 0);
  return std::any_of(rules_.begin(), rules_.end(), [&](const auto& rule) { return rule->runs_unmodified(launch); });
}

bool Admission::prefers_unmodified(const LaunchPlan& plan) const {
  const LaunchQuery launch{.plan = plan, .expected = expected_nanoseconds(plan), .has_device = true};
  return std::any_of(rules_.begin(), rules_.end(), [&](const auto& rule) { return rule->runs_unmodified(launch); });
}

bool Admission::is_pipelined(const Command& command) const {
  return command.launch && command.dependencies.unobserved != 0 &&
         (bypasses_policy() || kernels_.has_kernel(*command.client));
}

bool Admission::bypasses_policy() const {
  return std::any_of(rules_.begin(), rules_.end(), [](const auto& rule) { return rule->bypasses_policy(); });
}

bool Admission::starts_at_once(const Command& command) const {
  if (!command.launch->may_run_unmodified || command.launch->prints) return false;
  const LaunchQuery launch = query(command, 0);
  return std::any_of(rules_.begin(), rules_.end(), [&](const auto& rule) { return rule->starts_at_once(launch); });
}

LaunchSharing Admission::sharing(const Command& command) const {
  LaunchSharing sharing;
  const LaunchQuery launch = query(command, 0);
  for (const auto& rule : rules_) rule->share(launch, sharing);
  return sharing;
}

void Admission::note_launch(const Command& command) const {
  const LaunchQuery launch = query(command, 0);
  for (const auto& rule : rules_) rule->note_launch(launch);
}

bool Admission::wants_refill(const Client& client) const {
  double budget = 0;
  const bool isolated = kernels_.has_device(client);
  for (const auto& rule : rules_) budget = std::max(budget, rule->pipeline_budget(isolated));
  return client.state.pipelined_launches <= kMaxPipelined / 2 && client.state.pipelined_nanoseconds <= budget / 2;
}

CommandPtr Admission::makes_room() const {
  for (const auto& rule : rules_) {
    if (CommandPtr chosen = rule->makes_room(kernels_)) return chosen;
  }
  return nullptr;
}

}  // namespace wm::runtime
