// Every number and every output file that any command takes, from the command reference, which equals the help texts
// (docs_test.cc): a wrong one is one line with the option's name and exit code 2, before anything runs.
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

struct Option {
  std::string command;  // "lab run"
  std::string name;     // "--jobs"
  std::string type;     // "UINT:[1, 100000]"
};

// The options in the help texts of all commands that this build has.
std::vector<Option> options() {
  std::vector<Option> all;
  std::ifstream page(source_path("docs/reference/cli.md"));
  std::string command;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## wm ")) command = line.substr(6);
    if (!line.starts_with("  --")) continue;
    std::istringstream words(line);
    Option option{command, "", ""};
    words >> option.name >> option.type;
#ifndef WM_RUNTIME
    static const std::vector<std::string> kRuntime{"serve", "run", "status", "top", "set", "policy", "end", "cl run"};
    if (std::find(kRuntime.begin(), kRuntime.end(), command) != kRuntime.end() || command.starts_with("bench "))
      continue;
#endif
    all.push_back(option);
  }
  return all;
}

// One shell runs all of the command lines. Returns those that were not refused as expected, with their output, and
// "done" at the end.
std::string accepted(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::string script;
  for (const auto& [arguments, message] : lines)
    script += "t=$(timeout 10 " + binary_path("bin/wm ") + arguments +
              " 2>&1 </dev/null); c=$?; case \"$c:$(echo \"$t\" | wc -l):$t\" in \"2:1:wm: " + message +
              "\"*) ;; *) echo '" + arguments + "': $c \"$t\" ;; esac\n";
  script += "echo done\n";
  return shell(script).out;
}

TEST(EveryOption, RefusesNumbersThatAreNegativeOrTooLarge) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Option& o : options()) {
    if (!o.type.starts_with("UINT") && !o.type.starts_with("FLOAT")) continue;
    for (const char* value : {"-5", "100000000000000000000000"})
      lines.emplace_back(o.command + " " + o.name + "=" + value, o.name + ": must be a ");
  }
  EXPECT_GT(lines.size(), 60U);
  EXPECT_EQ(accepted(lines), "done\n");
}

TEST(EveryOption, ThatWritesAFileRefusesPathsThatCannotBeWritten) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Option& o : options()) {
    const bool output = o.name == "--json" || o.name == "--html" || o.name == "--csv" || o.name == "--markdown" ||
                        o.name == "--trace" || o.name == "--save" || o.name == "--page";
    if (output && o.type.starts_with("FILE"))
      lines.emplace_back(o.command + " " + o.name + " /nowhere/x", o.name + ": cannot write '/nowhere/x'");
  }
  EXPECT_GT(lines.size(), 20U);
  EXPECT_EQ(accepted(lines), "done\n");
}

}  // namespace
}  // namespace wm::cli
