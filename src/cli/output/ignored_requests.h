// Goals and priorities that a daemon's policy does not look at: the program runs, but nothing is done for them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace wm::cli {

// For a program that asks for these: "policy accelos does not honour goals; goal_shares, quota, … do", and the same of
// priorities. `status` is the daemon's. Empty: all that was asked for is honoured.
std::vector<std::string> ignored_requests(const nlohmann::ordered_json& status, bool has_goal, bool has_priority);

// A line per client of the status whose goal or priority is not honoured.
std::string ignored_requests_of_clients(const nlohmann::ordered_json& status);

}  // namespace wm::cli
