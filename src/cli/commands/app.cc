#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "cli/commands/command.h"
#include "cli/commands/version.h"

namespace wm::cli {
namespace {

int complain(const std::string& what) {
  // A message of a library may have several lines; only the first is printed.
  std::string line = what.substr(0, what.find('\n'));
  std::fprintf(stderr, "wm: %s\n", line.c_str());
  return 2;
}

// "no command 'kernls' (did you mean 'kernels'?)", where the first word that is no option names none.
std::string unknown_command(const CLI::App& app, const std::string& prefix, const std::vector<std::string>& rest) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  if (names.empty()) return {};
  for (const std::string& word : rest) {
    if (word.starts_with('-')) return {};
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (sub->get_name() != word) continue;
      return unknown_command(*sub, prefix + word + " ", {rest.begin() + 1, rest.end()});
    }
    // If a positional name is allowed too, only a near miss counts as a misspelt command.
    const bool named = !app.get_options([](const CLI::Option* option) { return option->get_positional(); }).empty();
    if (named && nearest(word, names).empty()) return {};
    if (app.get_option_no_throw("--" + word) != nullptr)
      return "no command '" + prefix + word + "' (did you mean '--" + word + "'?)";
    return "no command '" + prefix + word + "'" + did_you_mean(word, names) + "; 'wm --help' lists them";
  }
  return {};
}

// The deepest command that the words choose, and its name as a user types it.
std::pair<const CLI::App*, std::string> chosen_command(const CLI::App& app, const std::vector<std::string>& words) {
  std::pair<const CLI::App*, std::string> chosen{&app, "wm"};
  for (const std::string& word : words) {
    if (word.starts_with('-')) break;
    const auto below = chosen.first->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    if (below.empty()) break;
    chosen = {below[0], chosen.second + " " + word};
  }
  return chosen;
}

// "wm sim has no option '--polcy' (did you mean '--policy'?)", for the first option that the command does not have.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
  const auto [command, name] = chosen_command(app, words);
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& n : option->get_lnames()) known.push_back("--" + n);
    for (const std::string& n : option->get_snames()) known.push_back("-" + n);
  }
  // A single letter is near to every other one: no suggestion.
  const auto suggestion = [&](const std::string& option) {
    return option.size() > 2 ? did_you_mean(option, known) : std::string();
  };
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string option = word.substr(0, word.find('='));
    const bool number =
        option.size() > 1 && (std::isdigit(static_cast<unsigned char>(option[1])) != 0 || option[1] == '.');
    if (!option.starts_with('-') || option.size() < 2 || number) continue;
    if (std::find(known.begin(), known.end(), option) != known.end()) continue;
    if (name == "wm run")
      return "wm run has no option '" + option + "'" + suggestion(option) +
             "; options of the application stand after --, as in: wm run -- clinfo -l";
    return name + " has no option '" + option + "'" + suggestion(option) + "; '" + name + " --help' lists them";
  }
  return {};
}

// "--json needs a value: --json FILE", for an option at the end of the words or before another one.
std::string missing_value(const CLI::App& app, const std::vector<std::string>& words) {
  const auto [command, name] = chosen_command(app, words);
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with("--") || (i + 1 < words.size() && !words[i + 1].starts_with("--"))) continue;
    const CLI::Option* option = command->get_option_no_throw(words[i]);
    if (option != nullptr && option->get_items_expected_min() > 0 && !option->get_type_name().empty())
      return words[i] + " needs a value: " + name + " … " + words[i] + " " + option->get_type_name();
  }
  return {};
}

// "wm sim takes no argument 'sgemm'; a value stands behind its option, …", with the first word of the parser's list.
std::string unexpected_word(const CLI::App& app, const std::vector<std::string>& words, const std::string& message) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string::npos) return {};
  const auto [command, name] = chosen_command(app, words);
  std::istringstream rest(message.substr(colon + 2));
  const std::vector<std::string> unexpected{std::istream_iterator<std::string>(rest), {}};
  const auto first = std::find_first_of(words.begin(), words.end(), unexpected.begin(), unexpected.end());
  if (first == words.end()) return {};
  const bool takes_kernels = command->get_option_no_throw("--kernel") != nullptr && !first->starts_with('-');
  return name + " takes no argument '" + *first + "'" +
         (takes_kernels ? " (did you mean '--kernel " + *first + "'?)" : "") + "; '" + name +
         " --help' shows what it takes";
}

// "wm lab needs a command: list, run, show" or "wm set needs CLIENT", from the parser's "client is required".
std::string missing_word(const CLI::App& app, const std::vector<std::string>& words, const std::string& message) {
  const auto [command, name] = chosen_command(app, words);
  const std::string see = "; '" + name + " --help' shows what it takes";
  const std::string what = message.substr(0, message.find(" is required"));
  if (command->get_option_no_throw(what) != nullptr) {
    std::string written = what;
    if (!what.starts_with('-')) std::transform(what.begin(), what.end(), written.begin(), ::toupper);
    return name + " needs " + written + see;
  }
  std::string commands;
  for (const CLI::App* sub : command->get_subcommands([](const CLI::App* s) { return !s->get_group().empty(); }))
    commands += (commands.empty() ? "" : ", ") + sub->get_name();
  return commands.empty() ? std::string() : name + " needs a command: " + commands + see;
}

// "--stats takes no value", where the parser says "stats was given a disallowed flag override".
std::string value_of_a_flag(const std::string& error) {
  const auto at = error.find(" was given a disallowed flag override");
  return at == std::string::npos ? "" : "--" + error.substr(0, at) + " takes no value";
}

// "--cycles is given 2 times; it takes one value", from the parser's "--cycles: At Most 1 required but received 2".
std::string repeated_option(const std::string& message) {
  constexpr std::string_view kParsers = ": At Most 1 required but received ";
  const std::size_t at = message.find(kParsers);
  if (at == std::string::npos) return {};
  return message.substr(0, at) + " is given " + message.substr(at + kParsers.size()) + " times; it takes one value";
}

// "wm help sim extra": the words behind the command that they choose.
std::string word_behind_help(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string name = chosen_command(app, words).second;
  const auto chosen = static_cast<std::size_t>(std::count(name.begin(), name.end(), ' '));
  if (chosen + 1 >= words.size()) return {};  // the last word is --help
  return name + " has no command '" + words[chosen] + "'; '" + name + " --help' shows what it takes";
}

// `wm help sim` is `wm sim --help`.
std::vector<std::string> without_help_command(std::vector<std::string> words) {
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

// A descriptor that the caller closed would be given to the next file that is opened, and output would go there. Writes
// to this one fail.
void fill_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY);
  }
}

// Results that could not be written are an error: a full disk, a closed stdout.
int check_written(int code) {
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (code != 0 || (flushed && std::ferror(stdout) == 0 && std::cout.good())) return code;
  // The failed call may be long ago; another attempt tells the reason.
  const bool fails_again = ::write(STDOUT_FILENO, "\n", 1) < 0;
  const std::string reason = fails_again ? ": " + std::generic_category().message(errno) : "";
  return complain("stdout cannot be written" + reason);
}

int run_command(int argc, const char* const* argv) {
  CLI::App app{"Shares one GPU among many kernels: real kernels, executed and compared.", "wm"};
  app.set_version_flag("--version", version());
  app.footer("Examples:\n  wm demo\n  wm kernels check sgemm --size medium\n  wm kernels --help");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);

  Action action;
  const Command wm(app, action);
  add_demo(wm);
  add_test(wm);
  add_kernels(wm);
  add_gpus(wm);
  add_policies(wm);
  add_sim(wm);
  add_compare(wm);
  add_validate(wm);
  add_lab(wm);
  add_ptx(wm);
  add_cl(wm);
  add_bench(wm);
#ifdef WM_RUNTIME
  add_serve(wm);
  add_run(wm);
  add_status(wm);
  add_top(wm);
  add_control(wm);
  add_record(wm);
#endif
  add_doctor(wm);
  add_documentation(wm, app);

  if (argc <= 1) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  const std::vector<std::string> words = without_help_command({argv + 1, argv + argc});
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // the parser takes them from the end
  } catch (const CLI::ParseError& error) {
    std::string mistake = unknown_command(app, "", words);
    const bool is_help = std::string_view(argv[1]) == "help";
    if (is_help && mistake.empty()) mistake = word_behind_help(app, words);
    if (error.get_exit_code() == 0 && (!is_help || mistake.empty())) return app.exit(error);  // --help, --version
    const bool extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    const bool required = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
    if (mistake.empty() && (extras || required)) mistake = unknown_option(app, words);
    if (mistake.empty()) mistake = missing_value(app, words);
    if (mistake.empty() && extras) mistake = unexpected_word(app, words, error.what());
    if (mistake.empty()) mistake = repeated_option(error.what());
    if (mistake.empty()) mistake = value_of_a_flag(error.what());
    if (mistake.empty() && required) mistake = missing_word(app, words, error.what());
    return complain(mistake.empty() ? error.what() : mistake);
  }
  if (!action) return complain("nothing to do; 'wm --help' lists the commands");
  const Result<int> outcome = action();
  return outcome ? *outcome : complain(outcome.error().to_string());
}

}  // namespace

int run(int argc, const char* const* argv) {
  fill_standard_descriptors();
  return check_written(run_command(argc, argv));
}

}  // namespace wm::cli
