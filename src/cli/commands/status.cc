// wm status and wm top: the clients of the shared device and their statistics.
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <thread>
#include <unistd.h>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "runtime/protocol/monitor.h"
#include "runtime/protocol/socket.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct StatusOptions {
  std::string socket, json;
  double every = 1;
  std::uint64_t rounds = 0;
};

Result<Json> ask(const StatusOptions& options) {
  const auto text = runtime::request_status(options.socket.empty() ? runtime::default_socket() : options.socket);
  if (!text) return text.error();
  Json document = Json::parse(*text, nullptr, false);
  if (document.is_discarded()) return Error{"the daemon's answer is no JSON"};
  return document;
}

std::string megabytes(const Json& bytes) { return fmt::format("{:.1f} MB", bytes.get<double>() / (1 << 20)); }

// "2.91" where isolated times were measured, "~2.91" where they were estimated.
std::string slowdown(const Json& client) {
  if (!client["slowdown"].is_number()) return "-";
  const bool estimated = client["slowdown_basis"] == "estimated";
  return fmt::format("{}{:.2f}", estimated ? "~" : "", client["slowdown"].get<double>());
}

std::string table_of(const Json& document) {
  Table table({"client", "program", "pid", "kernel", "workers", "slowdown", "queue", "launches", "device", "memory"});
  for (const Json& c : document["clients"]) {
    table.add({fmt::format("{}", c["client"].get<std::uint64_t>()), c["name"].get<std::string>(),
               fmt::format("{}", c["pid"].get<int>()), c["kernel"].get<std::string>(),
               fmt::format("{}", c["workers"].get<std::uint64_t>()), slowdown(c),
               fmt::format("{}", c["queued"].get<std::uint64_t>()), grouped(c["launches"].get<std::uint64_t>()),
               duration(c["device_seconds"].get<double>()), megabytes(c["memory_bytes"])});
  }
  if (document["clients"].empty()) return "no clients\n";
  return table.to_string() +
         "slowdown: time of launches relative to isolated execution (~: estimated from the part of the device they "
         "used)\n"
         "device: device time; time that kernels shared is divided among them\n";
}

std::string heading(const Json& d) {
  const Json& alive = d["alive"];
  return fmt::format(
      "{}: {}, policy {}, up {}\n{} clients so far, {} cut off; alive: {} memory objects, {} programs, "
      "{} kernels, {} queues, {} commands\n",
      d["platform"].get<std::string>(), d["device"].get<std::string>(), d["policy"].get<std::string>(),
      duration(d["seconds"].get<double>()), d["clients_seen"].get<int>(), d["clients_cut_off"].get<int>(),
      alive["memories"].get<int>(), alive["programs"].get<int>(), alive["kernels"].get<int>(),
      alive["queues"].get<int>(), alive["commands"].get<int>());
}

// Clients that the daemon ended, and orphaned kernels.
std::string troubles(const Json& d) {
  std::string text;
  const auto who = [](const Json& c) {
    return fmt::format("client {} ({}, pid {})", c["client"].get<std::uint64_t>(), c["name"].get<std::string>(),
                       c["pid"].get<int>());
  };
  for (const Json& c : d["cut_off"]) text += who(c) + " was cut off: it " + c["reason"].get<std::string>() + "\n";
  for (const Json& c : d["orphaned_kernels"]) {
    text += fmt::format("{} has gone; its kernel {} has been on the device for {}\n", who(c),
                        c["kernel"].get<std::string>(), duration(c["seconds"].get<double>()));
  }
  return text;
}

Result<int> status(const StatusOptions& options) {
  const auto document = ask(options);
  if (!document) return document.error();
  const Output output(options.json);
  output.say(heading(*document) + table_of(*document) + troubles(*document));
  if (auto done = output.document(*document); !done) return done.error();
  return 0;
}

Result<int> top(const StatusOptions& options) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  for (std::uint64_t round = 0; options.rounds == 0 || round < options.rounds; ++round) {
    if (round != 0) std::this_thread::sleep_for(std::chrono::duration<double>(options.every));
    const auto document = ask(options);
    if (!document) return document.error();
    if (terminal) std::fputs("\033[H\033[2J", stdout);
    std::fputs((heading(*document) + table_of(*document)).c_str(), stdout);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

void add_status(const Command& wm) {
  auto options = std::make_shared<StatusOptions>();
  const Command command = wm.add("status", "Who uses the shared device", "wm status\nwm status --json -");
  command.option("--socket", options->socket, "The daemon's socket", {.type = "FILE"});
  command.json(options->json);
  command.run([options] { return status(*options); });
}

void add_top(const Command& wm) {
  auto options = std::make_shared<StatusOptions>();
  const Command command = wm.add("top", "The same, again and again", "wm top --every 0.5");
  command.option("--socket", options->socket, "The daemon's socket", {.type = "FILE"});
  command.option("--every", options->every, "Seconds between looks", {.show_default = true, .low = 0.01, .high = 3600});
  command.option("--rounds", options->rounds, "Looks before it ends (0: until interrupted)");
  command.run([options] { return top(*options); });
}

}  // namespace wm::cli
