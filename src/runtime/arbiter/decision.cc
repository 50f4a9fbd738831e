#include "runtime/arbiter/decision.h"

#include <algorithm>
#include <fmt/format.h>

namespace wm::runtime {

namespace {

bool has_goal(const ProgramState& p) { return p.goal.kind != ProgramGoal::Kind::none; }

}  // namespace

std::string ProgramDecision::mechanism() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (stream_priority == StreamPriority::highest) add("highest stream priority");
  if ((modes & kPlace) != 0) add(fmt::format("{} of {} SMs (green context)", sms, all_sms));
  if ((modes & kWorkers) != 0 && sms != 0) add(fmt::format("{} of {} SMs (workers)", sms, all_sms));
  if ((modes & kLimitBlocks) != 0) add(fmt::format("at most {}% of the blocks per SM", occupancy_percent));
  if ((modes & kQuota) != 0) add("a quota of launches");
  if ((modes & kGate) != 0) add(fmt::format("gates closed at most {}% of the time", gate_percent));
  if (slice_microseconds != 0) add(fmt::format("time slice {} us", slice_microseconds));
  if ((modes & kPause) != 0 && all_sms != 0 && sms == 0) {
    add("waits: no SMs");
  } else if ((modes & kPause) != 0) {
    add("paused while another program is measured by itself");
  }
  if ((modes & kWaitForOthers) != 0) add(fmt::format("launches wait up to {} us", wait_microseconds));
  if (has_no_gain) add("no limit: requests do not become shorter by one");
  return text.empty() ? "none" : text;
}

ProgramDecision decide_single(const ProgramState& program) {
  ProgramDecision d;
  // Streams keep the priority that they are created with, so it depends only on what the program asked for.
  const bool is_first = program.priority > 0 || has_goal(program);
  d.stream_priority = is_first ? StreamPriority::highest : StreamPriority::below_highest;
  return d;
}

std::vector<ProgramDecision> decide(const std::vector<ProgramState>& programs, const ArbiterOptions& options,
                                    const std::vector<Restriction>& restrictions) {
  std::vector<ProgramDecision> decisions(programs.size());
  if (programs.empty()) return decisions;
  const int lowest = std::min_element(programs.begin(), programs.end(), [](const auto& a, const auto& b) {
                       return a.priority < b.priority;
                     })->priority;
  const auto is_sensitive = [&](const ProgramState& p) { return has_goal(p) || p.priority > lowest; };
  const bool is_restricted = std::any_of(programs.begin(), programs.end(),
                                         [&](const ProgramState& p) { return p.is_active && is_sensitive(p); });
  for (std::size_t i = 0; i < programs.size(); ++i) {
    ProgramDecision& d = decisions[i];
    d = decide_single(programs[i]);
    if (options.gates == Gates::always) d.modes |= kGate;
    if (is_sensitive(programs[i])) {
      d.is_latency_sensitive = true;
      d.modes |= kMeasure | kTellOthers;
      continue;
    }
    if (!is_restricted) continue;
    d.is_restricted = true;
    const Restriction& restriction = restrictions[i];
    d.has_no_gain = restriction.has_no_gain;
    if (options.sharing == Sharing::isolated) d.slice_microseconds = restriction.slice_microseconds;
    if (options.sharing == Sharing::mps && restriction.occupancy_percent < 100) {
      d.modes |= kLimitBlocks;
      d.occupancy_percent = restriction.occupancy_percent;
    }
    if (options.gates != Gates::none) {
      d.modes |= kGate;
      d.gate_percent = restriction.gate_percent;
    }
    if (options.wait_microseconds != 0) {
      d.modes |= kWaitForOthers;
      d.wait_microseconds = options.wait_microseconds;
    }
  }
  // Blocks share an SM only with blocks that divide its memory in the same way; the limited ones have nearly all of it
  // as shared memory.
  const bool are_limited = std::any_of(decisions.begin(), decisions.end(),
                                       [](const ProgramDecision& d) { return (d.modes & kLimitBlocks) != 0; });
  for (ProgramDecision& d : decisions) {
    if (d.is_latency_sensitive && are_limited) d.modes |= kDivideAlike;
  }
  return decisions;
}

}  // namespace wm::runtime
