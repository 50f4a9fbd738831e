// The documents agree with the program: docs/reference/cli.md is written from the help texts (WM_UPDATE_DOCS=1 writes
// it anew), every option that a guide shows exists, and the cheap commands of the guides run.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include <CLI/Version.hpp>

#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

namespace fs = std::filesystem;

std::string file_text(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The help text of a command. The home folder appears in it as a default, so the test sets it.
const std::string& help_of(const std::string& command) {
  static std::map<std::string, std::string> texts;
  std::string& text = texts[command];
  if (text.empty()) {
    const std::string program = binary_path("bin/wm");
    text = shell("env -u XDG_CACHE_HOME -u XDG_RUNTIME_DIR HOME=/home/user " + program + " " + command + " --help").out;
  }
  return text;
}

// The names below "Subcommands:" of a help text.
std::vector<std::string> subcommands_in(const std::string& help) {
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

std::string joined(const std::string& command, const std::string& name) {
  return command.empty() ? name : name.empty() ? command : command + " " + name;
}

void append_command(std::string& page, const std::string& command) {
  const std::string& help = help_of(command);
  page += "\n## " + joined("wm", command) + "\n\n```\n" + help + (help.ends_with('\n') ? "" : "\n") + "```\n";
  for (const std::string& name : subcommands_in(help)) append_command(page, joined(command, name));
}

TEST(Docs, TheCommandReferenceIsUpToDate) {
#ifndef WM_RUNTIME
  GTEST_SKIP() << "the page shows the commands of the runtime too";
#endif
#if CLI11_VERSION_MAJOR != 2 || CLI11_VERSION_MINOR != 1
  GTEST_SKIP() << "the page shows help as Debian 12's CLI11 2.1 writes it";
#endif
  std::string page =
      "# Commands\n\n"
      "Written from the help texts of `wm`. Bad input is answered with one line on standard error and exit code 2. "
      "Commands that\n"
      "print results take `--json FILE` (`-` is standard output; [JSON](json.md) lists the keys).\n\n"
      "A kernel argument is `NAME[:key=value]…`, a policy argument `NAME[:parameter=value]…`. A kernel's name may be "
      "the "
      "path of a\n"
      "[YAML file](../guide/own-kernel.md).\n";
  append_command(page, "");
  const fs::path path = fs::path(source_path("docs/reference/cli.md"));
  if (std::getenv("WM_UPDATE_DOCS") != nullptr) std::ofstream(path) << page;
  EXPECT_EQ(file_text(path), page);
}

TEST(Docs, TheDashboardShowsMetricsThatTheDaemonHas) {
  const std::string dashboard = file_text(source_path("configs/grafana/warpmux.json"));
  const std::string metrics = file_text(source_path("src/runtime/server/metrics.cc"));
  const std::string prefix = "warpmux_";
  std::size_t found = 0;
  for (std::size_t at = 0; (at = dashboard.find(prefix, at)) != std::string::npos; ++found) {
    at += prefix.size();
    const std::string name = dashboard.substr(at, dashboard.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at) - at);
    EXPECT_NE(metrics.find('"' + name + '"'), std::string::npos) << prefix << name;
  }
  EXPECT_GT(found, 5U);
}

// A command line of a document.
struct Shown {
  std::string place;  // "docs/guide/first-hour.md:12"
  std::string text;   // without "./" and comment
};

// The lines of the guides and of README.md that start with "    ./wm", continued ones joined.
std::vector<Shown> shown_commands() {
  std::vector<fs::path> pages{"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(fs::path(source_path("docs/guide")))) {
    pages.push_back(fs::path("docs/guide") / entry.path().filename());
  }
  std::sort(pages.begin(), pages.end());
  std::vector<Shown> commands;
  for (const fs::path& page : pages) {
    std::stringstream lines(file_text(fs::path(source_path(page))));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (!line.starts_with("    ./wm ")) continue;
      std::string more;
      while (line.ends_with('\\') && std::getline(lines, more)) {
        line.pop_back();
        line += more;
        ++number;
      }
      commands.push_back({page.string() + ":" + std::to_string(number), line.substr(6, line.find(" #") - 6)});
    }
  }
  return commands;
}

// "lab run" of "wm lab run epochs.yaml --jobs 2".
std::string command_name(const Shown& shown) {
  std::stringstream words(shown.text);
  std::string word;
  words >> word;
  std::string name;
  while (words >> word) {
    const std::vector<std::string> known = subcommands_in(help_of(name));
    if (std::find(known.begin(), known.end(), word) == known.end()) break;
    name = joined(name, word);
  }
  return name;
}

TEST(Docs, EveryOptionThatIsShownExists) {
  const std::vector<Shown> commands = shown_commands();
  EXPECT_GT(commands.size(), 30u);
  for (const Shown& shown : commands) {
    const std::string help = help_of(command_name(shown));
    std::stringstream words(shown.text);
    for (std::string word; words >> word && word != "--" && word != "&";) {
      if (!word.starts_with("--")) continue;
      EXPECT_NE(help.find(word + " "), std::string::npos) << shown.place << ": " << word;
    }
  }
}

// Whether the command ends within a second or so and needs no device.
bool is_cheap(const Shown& shown) {
  const std::string name = command_name(shown);
  if (name == "lab run") return shown.text.find("--dry-run") != std::string::npos;
  // `rotate` is a policy that is not built in; `wm record` writes the folder `recorded`.
  if (name == "sim")
    return shown.text.find("rotate") == std::string::npos && shown.text.find("recorded/") == std::string::npos;
  if (name == "kernels check") return shown.text.find("examples/") != std::string::npos;
  return name == "gpus" || (name == "kernels" && shown.text.find("axpy") == std::string::npos) || name == "policies" ||
         name == "lab list" || name == "ptx stats" || name == "ptx run";
}

// Smaller inputs and fewer cycles than a reader would simulate.
std::string shortened(std::string text) {
  const std::size_t at = text.find("--cycles ");
  if (at == std::string::npos) return text;
  const std::size_t end = text.find(' ', at + 9);
  return text.substr(0, at) + "--size small --cycles 2000" + (end == std::string::npos ? "" : text.substr(end));
}

TEST(Docs, CheapCommandsOfTheGuidesRun) {
  const Scratch scratch;
  for (const char* folder : {"examples", "configs"}) {
    fs::create_directory_symlink(fs::path(source_path(folder)), scratch.path(folder));
  }
  fs::copy_file(fs::path(source_path("configs/gpus/qos16.yaml")), scratch.path("mine.yaml"));
  const std::string guide = file_text(fs::path(source_path("docs/guide/own-experiment.md")));
  const std::size_t yaml = guide.find("```yaml\n") + 8;
  scratch.write("epochs.yaml", guide.substr(yaml, guide.find("```", yaml) - yaml));
  int ran = 0;
  for (const Shown& shown : shown_commands()) {
    if (!is_cheap(shown)) continue;
    ++ran;
    const Ran result = shell("cd " + scratch.path() + " && " + binary_path("bin/") + shortened(shown.text));
    EXPECT_EQ(result.code, 0) << shown.place << ": " << shown.text << "\n" << result.err;
  }
  EXPECT_GT(ran, 12);
}

}  // namespace
}  // namespace wm::cli
