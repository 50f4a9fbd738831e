#include "lab/run/compare.h"

#include <algorithm>

namespace wm::lab {
namespace {

bool have_goals(const std::vector<Participant>& participants) {
  return std::any_of(participants.begin(), participants.end(),
                     [](const Participant& p) { return p.goal || p.goal_ipc || p.goal_time || p.goal_rate; });
}

bool have_priorities(const std::vector<Participant>& participants) {
  return std::any_of(participants.begin(), participants.end(),
                     [&](const Participant& p) { return p.priority != participants[0].priority; });
}

// The reason why the policy has nothing to decide for these kernels; empty if it has.
std::string misfit(const policy::Choice& choice, const std::vector<Participant>& participants) {
  if (auto r = policy::fits(choice, policy::Cans::all(), "cycle"); !r) return r.error().to_string();
  const policy::Info& info = choice.entry->info;
  if (info.goals && !have_goals(participants)) return "no kernel has a goal (NAME:goal=0.8)";
  if (info.waits == policy::Waits::for_priority && !info.goals && !have_priorities(participants))
    return "all kernels have the same priority (NAME:priority=1)";
  return "";
}

// Goals come first. Among equals, throughput does not decide: a policy that starves a kernel may have the largest. Nor
// does a mean rate, which hides a kernel that gets nothing for a part of the run.
bool better(const ComparedRun& a, const ComparedRun& b) {
  const Metrics x = metrics_of(a.result);
  const Metrics y = metrics_of(b.result);
  if (x.reached != y.reached) return x.reached > y.reached;
  if (x.starved != y.starved) return x.starved < y.starved;
  return x.worst_ntt != y.worst_ntt ? x.worst_ntt < y.worst_ntt : x.stp > y.stp;
}

}  // namespace

Result<PolicyList> policies_for(const std::vector<std::string>& words, const std::vector<Participant>& participants) {
  PolicyList list;
  std::vector<std::string> seen;
  const auto add = [&](const policy::Choice& choice) {
    const std::string text = choice.to_string();
    if (std::find(seen.begin(), seen.end(), text) != seen.end()) return;
    seen.push_back(text);
    const std::string why = misfit(choice, participants);
    if (why.empty())
      list.fit.push_back(choice);
    else
      list.unfit.push_back({std::string(choice.entry->info.name), why});
  };
  for (const std::string& word : words) {
    if (word == "all") {
      for (const policy::Entry& e : policy::entries()) add(*policy::choose(e.info.name));
      continue;
    }
    const auto choice = policy::choose(word);
    if (!choice) return choice.error();
    add(*choice);
  }
  return list;
}

Result<Comparison> compare(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                           const PolicyList& policies, CorunOptions options, std::uint64_t interval) {
  const auto isolated = measure_isolated(gpu, participants, options);
  if (!isolated) return isolated.error();
  options.known_isolated = *isolated;
  Comparison all;
  all.unfit = policies.unfit;
  for (const policy::Choice& choice : policies.fit) {
    ComparedRun run;
    if (interval != 0) run.timeline = std::make_unique<sim::Timeline>(interval);
    options.timeline = run.timeline.get();
    auto result = corun(gpu, participants, choice, options);
    if (!result) {
      all.unfit.push_back({std::string(choice.entry->info.name), result.error().to_string()});
      continue;
    }
    run.result = *std::move(result);
    all.runs.push_back(std::move(run));
  }
  std::stable_sort(all.runs.begin(), all.runs.end(), better);
  return all;
}

}  // namespace wm::lab
