// wm policies: every sharing policy, and one with its parameters.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/output/output.h"
#include "cli/output/policy_machines.h"
#include "cli/output/table.h"
#include "policy/describe.h"
#include "policy/registry.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const policy::Info& info) {
  return {{"name", info.name},
          {"about", info.about},
          {"paper", info.paper},
          {"needs", info.needs.to_string()},
          {"machines", machines_of(info)}};
}

Result<int> run(const std::string& name, const std::string& json) {
  const Output output(json);
  Json items = Json::array();
  if (name.empty()) {
    Table table({"policy", "machines", "about"});
    for (const policy::Entry& e : policy::entries())
      table.add({Cell(std::string(e.info.name), Style::bold), fmt::format("{}", fmt::join(machines_of(e.info), ", ")),
                 std::string(e.info.about)});
    output.say(table.fitted(terminal_width()));
    output.say(
        "\ncycle and block are simulators (wm sim --machine); device is any real device (wm serve), cuda one whose "
        "driver\n"
        "is NVIDIA's. 'wm policies NAME' lists its parameters; a policy is given as NAME[:parameter=value]…\n");
    for (const policy::Entry& e : policy::entries()) items.push_back(json_of(e.info));
  } else {
    const auto entry = policy::find(name);
    if (!entry) return entry.error();
    output.say(policy::details_text((*entry)->info));
    output.say(fmt::format("\nmachines    {}\n", fmt::join(machines_of((*entry)->info), ", ")));
    items.push_back(json_of((*entry)->info));
  }
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

}  // namespace

void add_policies(const Command& wm) {
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<std::string>();
  const Command policies = wm.add("policies", "The sharing policies", "wm policies\nwm policies quota");
  policies.option("name", *name, "One policy: its parameters and where it comes from");
  policies.json(*json);
  policies.run([=] { return run(*name, *json); });
}

}  // namespace wm::cli
