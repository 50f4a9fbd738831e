#include "policy/describe.h"

#include <algorithm>
#include <fmt/format.h>

#include "policy/registry.h"

namespace wm::policy {

std::string_view waits_text(Waits waits) {
  switch (waits) {
    case Waits::for_blocks:
      return "blocks in its way to leave";
    case Waits::for_earlier:
      return "kernels that arrived before it";
    case Waits::for_priority:
      return "kernels of higher priority, and among equals for earlier ones";
  }
  return "";
}

std::string list_text() {
  std::size_t width = 0;
  for (const Entry& e : entries()) width = std::max(width, e.info.name.size());
  std::string text;
  for (const Entry& e : entries()) text += fmt::format("{:<{}}  {}\n", e.info.name, width, e.info.about);
  return text;
}

std::string details_text(const Info& info) {
  std::string text = fmt::format("{}: {}\n\n", info.name, info.about);
  if (!info.paper.empty()) text += fmt::format("published   {}\n", info.paper);
  text += fmt::format("needs       {}\n", info.needs.empty() ? "nothing" : info.needs.to_string());
  if (!info.uses.empty()) text += fmt::format("can use     {}\n", info.uses.to_string());
  text += fmt::format("waits       at most for {}\n", waits_text(info.waits));
  if (info.parameters.empty()) return text;
  std::size_t name = 0;
  std::size_t initial = 0;
  for (const Parameter& p : info.parameters) {
    name = std::max(name, p.name.size());
    initial = std::max(initial, p.initial_text().size());
  }
  text += "\nparameters (default; range)\n";
  for (const Parameter& p : info.parameters) {
    text += fmt::format("  {:<{}}  {:<{}}  {}; {}", p.name, name, p.initial_text(), initial, p.about, p.range_text());
    if (!p.section.empty()) text += fmt::format(" [{}]", p.section);
    text += '\n';
  }
  return text;
}

std::string parameters_markdown(const Info& info) {
  if (info.parameters.empty()) return {};
  std::string text = "| parameter | default | range | meaning | paper |\n|---|---|---|---|---|\n";
  for (const Parameter& p : info.parameters) {
    std::string range = p.range_text();
    for (std::size_t at = range.find(" | "); at != std::string::npos; at = range.find(" | "))
      range.replace(at, 3, ", ");
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", p.name, p.initial_text(), range, p.about, p.section);
  }
  return text;
}

std::string policies_markdown() {
  std::string text =
      "# Policies\n\n"
      "Written from the policies' own tables (`wm policies NAME` shows the same). A policy argument is "
      "`NAME[:parameter=value]…`.\n"
      "Differences from the papers are listed in [deviations](../results/deviations.md);\n"
      "[Write a policy](../guide/own-policy.md) explains how to add one.\n";
  for (const Entry& e : entries()) {
    const Info& info = e.info;
    text += fmt::format("\n## {}\n\n{}. {}.\n\n", info.name, info.about, info.paper);
    text += fmt::format("Needs {}", info.needs.empty() ? "nothing of the machine" : info.needs.to_string());
    if (!info.uses.empty()) text += fmt::format("; can use {}", info.uses.to_string());
    text += fmt::format(". A kernel that arrives waits at most for {}.\n", waits_text(info.waits));
    if (!info.parameters.empty()) text += "\n" + parameters_markdown(info);
  }
  return text;
}

}  // namespace wm::policy
