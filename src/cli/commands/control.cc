// wm set, wm policy and wm end: changes of a daemon that runs.
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/json.h"
#include "base/nearest.h"
#include "base/number.h"
#include "cli/commands/command.h"
#include "cli/output/ignored_requests.h"
#include "runtime/protocol/monitor.h"
#include "runtime/protocol/socket.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ControlOptions {
  std::string socket, client, policy;
  std::vector<std::string> settings;
};

Result<int> request(const ControlOptions& options, const Json& request) {
  const std::string socket = options.socket.empty() ? runtime::default_socket() : options.socket;
  const auto text = runtime::request_control(socket, request.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!text) return text.error();
  const Json answer = Json::parse(*text, nullptr, false);
  if (!answer.is_object() || !answer.contains("done")) {
    return Error{answer.is_object() && answer.contains("error") ? answer["error"].get<std::string>()
                                                                : "the daemon's answer is not understood"};
  }
  std::printf("%s\n", answer["done"].get<std::string>().c_str());
  return 0;
}

// Says that the daemon's policy does not look at priorities, where one was set.
void tell_ignored_priority(const ControlOptions& options, const Json& request) {
  if (request.value("priority", 0) <= 0) return;
  const auto text = runtime::request_status(options.socket.empty() ? runtime::default_socket() : options.socket);
  if (!text) return;
  const Json status = Json::parse(*text, nullptr, false);
  if (!status.is_object()) return;
  for (const std::string& line : ignored_requests(status, false, true)) std::fprintf(stderr, "wm: %s\n", line.c_str());
}

// "share=2" and "priority=1" as members of a request.
Result<Json> settings_of(const ControlOptions& options) {
  Json all{{"op", "set"}, {"client", options.client}};
  for (const std::string& word : options.settings) {
    const std::size_t sign = word.find('=');
    const std::string name = word.substr(0, sign), value = sign == std::string::npos ? "" : word.substr(sign + 1);
    if (name != "share" && name != "priority") {
      return Error{"a client has no '" + name + "'" + did_you_mean(name, {"share", "priority"}) +
                   "; share=2 or priority=1 can be set"};
    }
    const auto number = parse_double(value);
    if (value.empty()) return Error{"'" + word + "': a number is missing"};
    if (!number || !std::isfinite(*number)) return Error{"'" + word + "': '" + value + "' is no number"};
    const bool is_integer = *number == std::floor(*number) && std::abs(*number) <= 1e6;
    if (name == "priority" && !is_integer) return Error{"'" + word + "': a priority is a whole number from 0 to 100"};
    if (name == "share") all["share"] = *number;
    if (name == "priority") all["priority"] = static_cast<int>(*number);
  }
  return all;
}

void add_socket(const Command& command, ControlOptions& options) {
  command.option("--socket", options.socket, "The daemon's socket", {.type = "FILE"});
}

}  // namespace

void add_control(const Command& wm) {
  auto o = std::make_shared<ControlOptions>();
  const Command set = wm.add("set", "Change the share or priority of a client that runs",
                             "wm set 3 share=2\nwm set ffmpeg priority=1\nwm set user:alice share=2");
  set.option("client", o->client, "A client by number, pid or program name; or user:NAME, now and later",
             {.required = true});
  set.option("settings", o->settings, "share=WEIGHT, priority=NUMBER", {.required = true});
  add_socket(set, *o);
  set.run([o]() -> Result<int> {
    const auto json = settings_of(*o);
    if (!json) return json.error();
    auto done = request(*o, *json);
    if (done) tell_ignored_priority(*o, *json);
    return done;
  });
  const Command policy = wm.add("policy", "Change the policy of the daemon while clients run",
                                "wm policy moving_shares\nwm policy moving_shares:slice=500000");
  policy.option("policy", o->policy, "NAME[:parameter=value]…", {.required = true});
  add_socket(policy, *o);
  policy.run([o] { return request(*o, {{"op", "policy"}, {"policy", o->policy}}); });
  const Command end = wm.add("end", "Disconnect a client from the device", "wm end 3");
  end.option("client", o->client, "A client by number, pid or program name", {.required = true});
  add_socket(end, *o);
  end.run([o] { return request(*o, {{"op", "end"}, {"client", o->client}}); });
}

}  // namespace wm::cli
