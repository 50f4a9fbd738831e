// The daemon's status as text: a heading, and a table of its clients.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace wm::cli {

// Device, policy, uptime and counts. With an earlier document of the same daemon: the device's utilisation since then.
std::string status_heading(const nlohmann::ordered_json& status, const nlohmann::ordered_json* earlier = nullptr);

// The heading in lines of at most `width` columns: utilisation and the policy's name first; facts that do not fit are
// left out, the least important ones first.
std::string short_heading(const nlohmann::ordered_json& status, const nlohmann::ordered_json* earlier,
                          std::size_t width);

// A row per client. With an earlier document: the part of the device that each used since then. `width`: the least
// important columns are left out until the lines fit; 0: all are shown.
std::string client_table(const nlohmann::ordered_json& status, const nlohmann::ordered_json* earlier = nullptr,
                         std::size_t width = 0);

// The meaning of columns that are not obvious.
std::string client_table_notes();
// One line for each client of a device with a goal: the goal, and what its launches took.
std::string goals_of_clients(const nlohmann::ordered_json& status);
// A line for each client and reason for which launches that could run as workers ran unmodified.
std::string unmodified_launches_of_clients(const nlohmann::ordered_json& status);
// One line for each kernel of CUDA programs that should have gates: that it has, or why not.
std::string kernels_of_clients(const nlohmann::ordered_json& status);

}  // namespace wm::cli
