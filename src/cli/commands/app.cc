#include <cstdio>
#include <string>
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
    // Where a name may stand as well, only a near miss is taken for a command.
    const bool named = !app.get_options([](const CLI::Option* option) { return option->get_positional(); }).empty();
    if (named && nearest(word, names).empty()) return {};
    return "no command '" + prefix + word + "'" + did_you_mean(word, names) + "; 'wm --help' lists them";
  }
  return {};
}

}  // namespace

int run(int argc, const char* const* argv) {
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
  add_lab(wm);
  add_ptx(wm);
  add_cl(wm);
  add_bench(wm);
#ifdef WM_RUNTIME
  add_serve(wm);
  add_run(wm);
  add_status(wm);
  add_top(wm);
#endif

  if (argc <= 1) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::string unknown = unknown_command(app, "", {argv + 1, argv + argc});
    return complain(unknown.empty() ? error.what() : unknown);
  }
  if (!action) return complain("nothing to do; 'wm --help' lists the commands");
  const Result<int> outcome = action();
  return outcome ? *outcome : complain(outcome.error().to_string());
}

}  // namespace wm::cli
