#include "cli/output/ignored_requests.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "base/json.h"
#include "cli/output/policy_machines.h"
#include "policy/registry.h"

namespace wm::cli {
namespace {

using PolicyTest = std::function<bool(const policy::Info&)>;

bool honours_goals(const policy::Info& info) { return info.goals; }
bool honours_priorities(const policy::Info& info) { return info.waits == policy::Waits::for_priority; }

// The rule is in force under any policy where it is listed, and is the whole policy of a CUDA arbiter without another.
bool has_priority_headroom(const nlohmann::ordered_json& status) {
  const auto rules = status.value("admission_rules", nlohmann::ordered_json::array());
  return status.value("policy", "") == "priority_headroom" ||
         std::any_of(rules.begin(), rules.end(), [](const auto& rule) {
           return rule.template get<std::string>().starts_with("priority_headroom");
         });
}

// The machine that the daemon is, unless it arbitrates CUDA programs; a simulator says which.
std::string machine_of(const nlohmann::ordered_json& status) {
  return status.contains("simulated") ? status["simulated"].value("timing", "cycle") : "device";
}

std::string refusal(const nlohmann::ordered_json& status, const std::string& policy, const char* requests,
                    const PolicyTest& honours) {
  std::vector<std::string_view> names;
  for (const policy::Entry& entry : policy::entries()) {
    const std::vector<std::string> machines = machines_of(entry.info);
    const bool runs = status.contains("arbiter")
                          ? arbitrates_programs(entry.info)
                          : std::find(machines.begin(), machines.end(), machine_of(status)) != machines.end();
    if (runs && honours(entry.info)) names.push_back(entry.info.name);
  }
  return fmt::format("policy {} does not honour {}; these do: {}", policy, requests, fmt::join(names, ", "));
}

}  // namespace

std::vector<std::string> ignored_requests(const nlohmann::ordered_json& status, bool has_goal, bool has_priority) {
  const std::string text = status.value("policy", ""), policy = text.substr(0, text.find(':'));
  const auto entry = policy::find(policy);
  const auto honoured = [&](const PolicyTest& honours) { return entry && honours((*entry)->info); };
  std::vector<std::string> lines;
  if (has_goal && policy != "priority_headroom" && !honoured(honours_goals))
    lines.push_back(refusal(status, policy, "goals", honours_goals));
  if (has_priority && !has_priority_headroom(status) && !honoured(honours_priorities))
    lines.push_back(refusal(status, policy, "priorities", honours_priorities));
  return lines;
}

std::string ignored_requests_of_clients(const nlohmann::ordered_json& status) {
  std::string text;
  for (const auto& client : status["clients"]) {
    const auto has_number = [&](const char* name) { return client.contains(name) && client[name].is_number(); };
    const bool has_goal = client.contains("goal")
                              ? client["goal"].is_string() && !client["goal"].get_ref<const std::string&>().empty()
                              : has_number("goal_seconds") || has_number("goal_part");
    for (const std::string& line : ignored_requests(status, has_goal, client.value("priority", 0) > 0))
      text += fmt::format("client {}: {}\n", client["client"].get<std::uint64_t>(), line);
  }
  return text;
}

}  // namespace wm::cli
