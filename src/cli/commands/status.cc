// wm status: the clients of the shared device and their statistics.
#include <fmt/format.h>
#include <memory>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/output/client_table.h"
#include "cli/output/ignored_requests.h"
#include "cli/output/output.h"
#include "cli/output/terminal.h"
#include "runtime/protocol/monitor.h"
#include "runtime/protocol/socket.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct StatusOptions {
  std::string socket, json;
};

Result<Json> ask(const StatusOptions& options) {
  const auto text = runtime::request_status(options.socket.empty() ? runtime::default_socket() : options.socket);
  if (!text) return text.error();
  Json document = Json::parse(*text, nullptr, false);
  if (document.is_discarded()) return Error{"the daemon's answer is no JSON"};
  return document;
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

std::string rules(const Json& d) {
  std::string names;
  for (const Json& rule : d.value("admission_rules", Json::array())) {
    const auto text = rule.get<std::string>();
    names += (names.empty() ? "admission rules: " : ", ") + text.substr(0, text.find(':'));
  }
  return names.empty() ? "" : names + "\n";
}

Result<int> status(const StatusOptions& options) {
  const auto document = ask(options);
  if (!document) return document.error();
  const Output output(options.json);
  const std::string notes = (*document)["clients"].empty() || document->contains("arbiter") ? "" : client_table_notes();
  output.say(status_heading(*document) + rules(*document) + client_table(*document) + notes +
             goals_of_clients(*document) + unmodified_launches_of_clients(*document) + kernels_of_clients(*document) +
             ignored_requests_of_clients(*document) + troubles(*document));
  if (auto done = output.document(*document); !done) return done.error();
  return 0;
}

}  // namespace

void add_status(const Command& wm) {
  auto options = std::make_shared<StatusOptions>();
  const Command command = wm.add("status", "Clients and state of the shared device", "wm status\nwm status --json -");
  command.option("--socket", options->socket, "The daemon's socket", {.type = "FILE"});
  command.json(options->json);
  command.run([options] { return status(*options); });
}

}  // namespace wm::cli
