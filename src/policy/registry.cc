#include "policy/registry.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/nearest.h"

namespace wm::policy {

std::vector<Entry> generated_entries();  // written by the build, from the files in impl/

std::span<const Entry> entries() {
  static const std::vector<Entry> all = generated_entries();
  return all;
}

Result<const Entry*> find(std::string_view name) {
  std::vector<std::string> names;
  for (const Entry& e : entries()) {
    if (e.info.name == name) return &e;
    names.emplace_back(e.info.name);
  }
  return Error{fmt::format("unknown policy '{}'{}", name, did_you_mean(name, names))};
}

std::string Choice::to_string() const {
  std::string text(entry->info.name);
  for (const auto& [name, value] : values.all()) {
    if (!value.empty()) text += fmt::format(":{}={}", name, value);
  }
  return text;
}

Result<Choice> choose(std::string_view text) {
  const auto part = [&text] {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::string_view head = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return head;
  };
  const std::string_view name = part();
  auto entry = find(name);
  if (!entry) return entry.error();
  std::vector<Argument> arguments;
  while (!text.empty()) {
    const std::string_view item = part();
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      std::vector<std::string> known;
      for (const Parameter& p : (*entry)->info.parameters)
        if (p.name != item) known.emplace_back(p.name);
      return Error{fmt::format("policy '{}': '{}' is not parameter=value{}", name, item,
                               did_you_mean(std::string(item), known))};
    }
    arguments.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  auto values = Values::from((*entry)->info.parameters, arguments, fmt::format("policy '{}'", name));
  if (!values) return values.error();
  return Choice{*entry, *std::move(values)};
}

Result<void> fits(const Choice& choice, Cans machine, std::string_view machine_name) {
  const Cans missing = choice.needs().without(machine);
  if (missing.empty()) return {};
  std::string what;
  for (unsigned i = 0; i <= static_cast<unsigned>(kLastCan); ++i) {
    if (!missing.has(static_cast<Can>(i))) continue;
    if (!what.empty()) what += ", nor ";
    what += meaning(static_cast<Can>(i));
  }
  return Error{fmt::format("policy '{}' cannot run on the {} machine, which cannot {}", choice.entry->info.name,
                           machine_name, what)};
}

Result<std::unique_ptr<Policy>> make(const Choice& choice, Cans machine, std::string_view machine_name) {
  if (auto fit = fits(choice, machine, machine_name); !fit) return fit.error();
  return choice.entry->make(choice.values);
}

}  // namespace wm::policy
