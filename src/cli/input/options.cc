#include "cli/input/options.h"

#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/number.h"

namespace wm::cli {
namespace {

// The value as the messages write it: 1000000 and not 1e+06.
std::string written(double number) { return fmt::format("{}", number); }

// A check of the text of a number, in our own words. Without it the parser would accept -5 for an unsigned number and
// report 10^23 as a type error.
template <typename T>
std::string number_mistake(const std::string& text, const Taken& taken) {
  const bool limited = taken.high != 0;
  if constexpr (std::is_floating_point_v<T>) {
    const auto number = parse_double(text);
    if (number && std::isfinite(*number) && (!limited || (*number >= taken.low && *number <= taken.high))) return {};
    return limited
               ? fmt::format("must be a number from {} to {}, not '{}'", written(taken.low), written(taken.high), text)
               : fmt::format("must be a number, not '{}'", text);
  } else {
    const auto number = parse_integer<T>(text);
    const auto value = static_cast<double>(number.value_or(0));
    if (number && (!limited || (value >= taken.low && value <= taken.high))) return {};
    return limited ? fmt::format("must be a whole number from {} to {}, not '{}'", written(taken.low),
                                 written(taken.high), text)
                   : fmt::format("must be a whole number from 0 to {}, not '{}'", std::numeric_limits<T>::max(), text);
  }
}

// Opens the file as the command will do, since permissions do not say everything: a file system may be read-only. A
// file that this makes is removed again.
std::string path_mistake(const std::string& text) {
  namespace fs = std::filesystem;
  if (text.empty() || text == "-") return {};
  std::error_code ignored;
  const fs::path path(text);
  if (fs::is_directory(path, ignored)) return fmt::format("cannot write '{}': it is a folder", text);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const bool fresh = !fs::exists(path, ignored);
  if (fresh && !fs::is_directory(folder, ignored))
    return fmt::format("cannot write '{}': there is no folder '{}'", text, folder.string());
  if (!fresh && !fs::is_regular_file(path, ignored))  // opening a pipe would wait for its reader
    return ::access(path.c_str(), W_OK) == 0 ? "" : fmt::format("cannot write '{}': permission denied", text);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return fmt::format("cannot write '{}': {}", text, std::system_category().message(errno));
  ::close(file);
  if (fresh) fs::remove(path, ignored);
  return {};
}

bool is_output(CLI::Option& option) {
  try {
    return option.get_validator("path") != nullptr;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

std::vector<std::string> values_of(const CLI::Option& option) {
  if (option.count() != 0) return option.results();
  return option.get_default_str().empty() ? std::vector<std::string>{}
                                          : std::vector<std::string>{option.get_default_str()};
}

bool is_same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::absolute(a, ignored).lexically_normal() == fs::absolute(b, ignored).lexically_normal()) return true;
  return fs::exists(a, ignored) && fs::exists(b, ignored) && fs::equivalent(a, b, ignored);
}

// A value that is not written to may be any text, such as a kernel's name: it counts as a file if it is one, or if its
// option takes one.
bool names_file(const CLI::Option& option, const std::string& value) {
  std::error_code ignored;
  return option.get_type_name() == "FILE" || std::filesystem::is_regular_file(value, ignored);
}

std::string conflict(CLI::Option& output, const std::string& file, CLI::Option& other) {
  for (const std::string& value : values_of(other)) {
    if (value.empty() || value == "-" || !is_same_file(file, value)) continue;
    if (is_output(other))
      return fmt::format("{} and {} name one file, '{}'", output.get_name(), other.get_name(), file);
    if (names_file(other, value))
      return fmt::format("{} would overwrite '{}', which {} names", output.get_name(), file, other.get_name());
  }
  return {};
}

// The mistake of an output that would overwrite another one, or a file that the command reads; empty: none.
std::string output_mistake(CLI::App& app) {
  std::string at_stdout;
  for (CLI::Option* output : app.get_options()) {
    if (!is_output(*output)) continue;
    for (const std::string& file : values_of(*output)) {
      if (file.empty()) continue;
      if (file == "-") {
        if (output->get_description().find("-: stdout") == std::string::npos)
          return output->get_name() + " writes a file; it cannot be '-'";
        if (!at_stdout.empty()) return at_stdout + " and " + output->get_name() + " cannot both be '-'";
        at_stdout = output->get_name();
        continue;
      }
      for (CLI::Option* other : app.get_options()) {
        if (other == output) continue;
        if (std::string mistake = conflict(*output, file, *other); !mistake.empty()) return mistake;
      }
    }
  }
  return {};
}

std::string file_name_mistake(const std::string& text) { return text.empty() ? "a file name expected, not ''" : ""; }

std::string folder_mistake(const std::string& text) {
  std::error_code ignored;
  const bool is_other = std::filesystem::exists(text, ignored) && !std::filesystem::is_directory(text, ignored);
  return is_other ? fmt::format("'{}' is a file, not a folder", text) : "";
}

// The help shows the range as the type of the value: UINT in [1, 64].
std::string range_text(const Taken& taken) {
  return taken.high == 0 ? "" : fmt::format("[{}, {}]", written(taken.low), written(taken.high));
}

template <typename T>
void add_option(CLI::App& app, const std::string& name, T& out, const std::string& about, const Taken& taken) {
  CLI::Option* option = app.add_option(name, out, about);
  if (taken.required) option->required();
  if (taken.show_default) option->capture_default_str();
  if constexpr (std::is_arithmetic_v<T>) {
    option->check(CLI::Validator([taken](std::string& text) { return number_mistake<T>(text, taken); },
                                 range_text(taken), "number"));
  }
  if (taken.output) option->check(CLI::Validator([](std::string& text) { return path_mistake(text); }, "", "path"));
  // Where a file is written by default, an empty name says that none is.
  if constexpr (std::is_same_v<T, std::string>) {
    if (taken.type != nullptr && std::string_view(taken.type).starts_with("FILE") && out.empty())
      option->check(CLI::Validator([](std::string& text) { return file_name_mistake(text); }, "", "file name"));
  }
  if (taken.type != nullptr && std::string_view(taken.type) == "FOLDER")
    option->check(CLI::Validator([](std::string& text) { return folder_mistake(text); }, "", "folder"));
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
  app_->add_flag(name, out, about)->disable_flag_override();
}
void Command::hidden_flag(const std::string& name, bool& out, const std::string& about) const {
  app_->add_flag(name, out, about)->disable_flag_override()->group("");
}

void Command::json(std::string& out) const {
  option("--json", out, "Write the results as JSON to FILE (-: stdout)", {.type = "FILE", .output = true});
}

void Command::run(Action action) const {
  app_->callback([app = app_, chosen = chosen_, action = std::move(action)] {
    if (!app->get_subcommands().empty()) return;
    if (const std::string mistake = output_mistake(*app); !mistake.empty()) throw CLI::ParseError(mistake, 2);
    *chosen = action;
  });
}

void Command::needs_command() const { app_->require_subcommand(1); }

}  // namespace wm::cli
