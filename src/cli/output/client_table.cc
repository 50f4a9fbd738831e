#include "cli/output/client_table.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/counted.h"
#include "base/json.h"
#include "cli/output/table.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string megabytes(const Json& bytes) { return fmt::format("{:.1f} MB", bytes.get<double>() / (1 << 20)); }

// "2.91" where isolated times were measured, "~2.91" where they were estimated.
std::string slowdown(const Json& client) {
  if (!client["slowdown"].is_number()) return "-";
  const bool estimated = client["slowdown_basis"] == "estimated";
  return fmt::format("{}{:.2f}", estimated ? "~" : "", client["slowdown"].get<double>());
}

// The part of the device that the client used since `earlier`; over its life where it was not there then.
double utilisation(const Json& status, const Json& client, const Json* earlier) {
  double used = client["device_seconds"].get<double>(), passed = client["seconds"].get<double>();
  for (const Json& before : earlier != nullptr ? (*earlier)["clients"] : Json::array()) {
    if (before["client"] != client["client"]) continue;
    used -= before["device_seconds"].get<double>();
    passed = status["seconds"].get<double>() - (*earlier)["seconds"].get<double>();
  }
  return std::clamp(used / std::max(passed, 1e-9), 0.0, 1.0);
}

std::string in_percent(double part) { return fmt::format("{:.0f}%", part * 100); }

// The clients of a daemon that arbitrates CUDA programs.
std::string arbitrated_table(const Json& status, std::size_t width) {
  Table table({"client", "program", "pid", "user", "prio", "launches", "state", "goal", "reached", "mechanism"});
  const auto or_dash = [](const Json& value) {
    const auto text = value.get<std::string>();
    return text.empty() ? "-" : text;
  };
  for (const Json& c : status["clients"]) {
    const auto launches = c["launches"].get<std::uint64_t>();
    table.add({fmt::format("{}", c["client"].get<std::uint64_t>()), c["name"].get<std::string>(),
               fmt::format("{}", c["pid"].get<int>()), c["user"].get<std::string>(),
               fmt::format("{}", c["priority"].get<int>()), grouped(launches), c["state"].get<std::string>(),
               or_dash(c["goal"]), or_dash(c["reached"]), c["mechanism"].get<std::string>()});
  }
  if (width != 0) table.drop_columns({"mechanism", "launches", "pid", "user", "prio", "reached"}, width);
  return table.fitted(width);
}

// The first facts that fit into a line.
std::string line_of(const std::vector<std::string>& facts_by_importance, std::size_t width) {
  std::string line;
  for (const std::string& fact : facts_by_importance) {
    if (!line.empty() && line.size() + 2 + fact.size() > width) break;
    line += (line.empty() ? "" : ", ") + fact;
  }
  return line + "\n";
}

double device_utilisation(const Json& status, const Json* earlier) {
  double used = 0;
  for (const Json& c : status["clients"]) used += utilisation(status, c, earlier);
  return std::min(used, 1.0);
}

// The names of programs leave room for other columns.
std::string shortened(const std::string& name, std::size_t length) {
  return name.size() <= length ? name : name.substr(0, length - 1) + "…";
}

}  // namespace

std::string status_heading(const Json& d, const Json* earlier) {
  if (d.contains("arbiter")) {
    return fmt::format("{}: {}, policy {}, sharing {}, up {}\n{} so far\n", d["platform"].get<std::string>(),
                       d["device"].get<std::string>(), d["policy"].get<std::string>(),
                       d["arbiter"]["sharing"].get<std::string>(), duration(d["seconds"].get<double>()),
                       counted(d["clients_seen"].get<std::uint64_t>(), "client"));
  }
  const auto number_of = [&](const char* kind, const char* noun) {
    return counted(d["alive"][kind].get<std::uint64_t>(), noun);
  };
  const std::string platform = d["platform"].get<std::string>(), compiler = d.value("compiler", platform);
  const std::string compiled = compiler != platform ? ", compiler " + compiler : "";
  const std::string utilised = earlier != nullptr ? ", utilisation " + in_percent(device_utilisation(d, earlier)) : "";
  return fmt::format("{}: {}{}, policy {}, up {}{}\n{} so far, {} cut off; alive: {}, {}, {}, {}, {}\n", platform,
                     d["device"].get<std::string>(), compiled, d["policy"].get<std::string>(),
                     duration(d["seconds"].get<double>()), utilised,
                     counted(d["clients_seen"].get<std::uint64_t>(), "client"), d["clients_cut_off"].get<int>(),
                     number_of("memories", "memory object"), number_of("programs", "program"),
                     number_of("kernels", "kernel"), number_of("queues", "queue"), number_of("commands", "command"));
}

std::string short_heading(const Json& d, const Json* earlier, std::size_t width) {
  const auto text = [&](const char* name) { return d[name].get<std::string>(); };
  std::vector<std::string> facts, counts{counted(d["clients_seen"].get<std::uint64_t>(), "client") + " so far"};
  const bool arbitrated = d.contains("arbiter");
  if (!arbitrated) facts.push_back("utilisation " + in_percent(device_utilisation(d, earlier)));
  facts.push_back("policy " + text("policy").substr(0, text("policy").find(':')));
  if (arbitrated) facts.push_back("sharing " + d["arbiter"]["sharing"].get<std::string>());
  facts.push_back("up " + duration(d["seconds"].get<double>()));
  facts.push_back(text("device"));
  facts.push_back(text("platform"));
  if (!arbitrated) {
    const Json& alive = d["alive"];
    counts.push_back(fmt::format("{} cut off", d["clients_cut_off"].get<int>()));
    for (const std::string noun : {"command", "kernel", "queue", "program"})
      counts.push_back(counted(alive[noun + "s"].get<std::uint64_t>(), noun));
    counts.push_back(counted(alive["memories"].get<std::uint64_t>(), "memory object"));
  }
  return line_of(facts, width) + line_of(counts, width);
}

std::string client_table(const Json& status, const Json* earlier, std::size_t width) {
  if (status["clients"].empty()) return "no clients\n";
  if (status.contains("arbiter")) return arbitrated_table(status, width);
  Table table({"client", "program", "pid", "user", "share", "prio", "use", "slowdown", "workers", "queue", "launches",
               "device", "memory", "kernel"});
  for (const Json& c : status["clients"]) {
    const auto name = c["name"].get<std::string>();
    table.add(
        {fmt::format("{}", c["client"].get<std::uint64_t>()), width == 0 ? name : shortened(name, 20),
         fmt::format("{}", c["pid"].get<int>()), c["user"].get<std::string>(),
         fmt::format("{:g}", c["share"].get<double>()), fmt::format("{}", c["priority"].get<int>()),
         in_percent(utilisation(status, c, earlier)), slowdown(c), fmt::format("{}", c["workers"].get<std::uint64_t>()),
         fmt::format("{}", c["queued"].get<std::uint64_t>()), grouped(c["launches"].get<std::uint64_t>()),
         duration(c["device_seconds"].get<double>()), megabytes(c["memory_bytes"]), c["kernel"].get<std::string>()});
  }
  if (width != 0) {
    table.drop_columns(
        {"kernel", "memory", "device", "launches", "queue", "workers", "pid", "prio", "share", "user", "client"},
        width);
  }
  return table.fitted(width);
}

std::string client_table_notes() {
  return "use: part of the device; slowdown: time of launches relative to isolated execution (~: estimated from the "
         "part\n"
         "they used); device: device time, which kernels that share it divide\n";
}

std::string goals_of_clients(const Json& status) {
  std::string text;
  for (const Json& c : status["clients"]) {
    const auto goal = c.find("goal_seconds"), part = c.find("goal_part");
    const bool has_part = part != c.end() && part->is_number();
    if (!has_part && (goal == c.end() || !goal->is_number())) continue;
    const auto launches = c["launches"].get<std::uint64_t>();
    text += fmt::format("client {}: goal {}", c["client"].get<std::uint64_t>(),
                        has_part ? fmt::format("{} of its isolated rate", part->get<double>())
                                 : duration(goal->get<double>()) + " a launch");
    if (launches > 0) {
      const double mean = c["turnaround_seconds"].get<double>() / static_cast<double>(launches);
      text += fmt::format("; {} on average", duration(mean));
    }
    text += '\n';
  }
  return text;
}

std::string unmodified_launches_of_clients(const Json& status) {
  std::string text;
  for (const Json& c : status["clients"]) {
    const auto add = [&](const char* key, const char* how) {
      const auto unmodified = c.value(key, std::uint64_t{0});
      if (unmodified == 0) return;
      text += fmt::format("client {}: {} of {} launches {}\n", c["client"].get<std::uint64_t>(), grouped(unmodified),
                          grouped(c["launches"].get<std::uint64_t>()), how);
    };
    add("unmodified_short", "were short and ran unmodified");
    add("unmodified_capped", "ran unmodified, with caps by shared memory");
  }
  return text;
}

std::string kernels_of_clients(const Json& status) {
  std::string text;
  for (const Json& c : status["clients"]) {
    const auto kernels = c.find("kernels");
    // Daemons of OpenCL programs give the number of a client's kernels instead.
    if (kernels == c.end() || !kernels->is_array()) continue;
    for (const Json& k : *kernels) {
      const auto reason = k["reason"].get<std::string>();
      const bool are_workers = status.contains("arbiter") && status["arbiter"].value("workers", false);
      const char* const form = are_workers ? (reason.empty() ? "runs as workers" : "does not run as workers")
                                           : (reason.empty() ? "has gates" : "has no gates");
      text += fmt::format("client {}: kernel '{}' {}{}\n", c["client"].get<std::uint64_t>(),
                          k["name"].get<std::string>(), form, reason.empty() ? "" : ": " + reason);
    }
  }
  return text;
}

}  // namespace wm::cli
