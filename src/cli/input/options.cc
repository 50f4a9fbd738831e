#include "cli/input/options.h"

#include <CLI/CLI.hpp>

namespace wm::cli {
namespace {

template <typename T>
void add_option(CLI::App& app, const std::string& name, T& out, const std::string& about, const Taken& taken) {
  CLI::Option* option = app.add_option(name, out, about);
  if (taken.required) option->required();
  if (taken.show_default) option->capture_default_str();
  if (taken.high != 0) option->check(CLI::Range(taken.low, taken.high));
  if (taken.type != nullptr) option->type_name(taken.type);
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (name.starts_with('-')) option->allow_extra_args(false);
  }
}

}  // namespace

Command Command::add(const std::string& name, const std::string& about, const std::string& examples) const {
  CLI::App* below = app_->add_subcommand(name, about);
  const bool several = examples.find("\nwm ") != std::string::npos;
  std::string footer = several ? "Examples:" : "Example:";
  std::string line;
  std::istringstream lines(examples);
  while (std::getline(lines, line)) footer += "\n  " + line;
  below->footer(footer);
  return {*below, *chosen_};
}

void Command::option(const std::string& name, std::string& out, const std::string& about, Taken taken) const {
  add_option(*app_, name, out, about, taken);
}
void Command::option(const std::string& name, std::vector<std::string>& out, const std::string& about,
                     Taken taken) const {
  add_option(*app_, name, out, about, taken);
}
void Command::option(const std::string& name, std::uint64_t& out, const std::string& about, Taken taken) const {
  add_option(*app_, name, out, about, taken);
}
void Command::option(const std::string& name, unsigned& out, const std::string& about, Taken taken) const {
  add_option(*app_, name, out, about, taken);
}
void Command::option(const std::string& name, double& out, const std::string& about, Taken taken) const {
  add_option(*app_, name, out, about, taken);
}
void Command::hidden_option(const std::string& name, std::string& out, const std::string& about) const {
  app_->add_option(name, out, about)->group("");
}
void Command::flag(const std::string& name, bool& out, const std::string& about) const {
  app_->add_flag(name, out, about);
}

void Command::json(std::string& out) const {
  option("--json", out, "Write the results as JSON to FILE (-: stdout)", {.type = "FILE"});
}

void Command::run(Action action) const {
  app_->callback([app = app_, chosen = chosen_, action = std::move(action)] {
    if (app->get_subcommands().empty()) *chosen = action;
  });
}

void Command::needs_command() const { app_->require_subcommand(1); }

}  // namespace wm::cli
