// docs/reference/cli.md is written from the help texts of wm: set WM_UPDATE_DOCS=1 to write it anew.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "cli/shell.h"

namespace wm::cli {
namespace {

// The help text of a command. The home folder appears in it as a default, so it is the same for everybody.
std::string help_of(const std::string& command) {
  const std::string program = WM_BINARY_DIR "/bin/wm";
  return shell("env -u XDG_CACHE_HOME -u XDG_RUNTIME_DIR HOME=/home/user " + program + " " + command + " --help").out;
}

// The names below "Subcommands:" of a help text.
std::vector<std::string> subcommands(const std::string& help) {
  std::vector<std::string> names;
  std::stringstream lines(help);
  bool listed = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Subcommands:") {
      listed = true;
    } else if (line.empty()) {
      listed = false;
    } else if (listed && line.starts_with("  ") && line[2] != ' ') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

void append_command(std::string& page, const std::string& command) {
  const std::string help = help_of(command);
  page += "\n## wm" + (command.empty() ? "" : " " + command) + "\n\n```\n" + help + (help.ends_with('\n') ? "" : "\n") +
          "```\n";
  for (const std::string& name : subcommands(help)) append_command(page, command.empty() ? name : command + " " + name);
}

TEST(LongDocs, TheCommandReferenceIsUpToDate) {
#ifndef WM_RUNTIME
  GTEST_SKIP() << "the page shows the commands of the runtime too";
#endif
  std::string page =
      "# Commands\n\n"
      "Written from the help texts of `wm`. Bad input is answered with one line on standard error and exit code 2. "
      "Commands that\n"
      "print results take `--json FILE` (`-` is standard output; [JSON](json.md) lists the keys).\n\n"
      "A kernel argument is `NAME[:key=value]…`, a policy argument `NAME[:parameter=value]…`. A kernel's name may be "
      "the path of a\n"
      "[YAML file](../guide/own-kernel.md).\n";
  append_command(page, "");
  const std::string path = std::string(WM_SOURCE_DIR) + "/docs/reference/cli.md";
  if (std::getenv("WM_UPDATE_DOCS") != nullptr) std::ofstream(path) << page;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page);
}

}  // namespace
}  // namespace wm::cli
