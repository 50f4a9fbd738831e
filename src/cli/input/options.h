// A small interface to the option parser. Including the parser's headers costs seconds, so only options.cc does.
//
//   Command check = kernels.add("check", "Execute kernels …", "wm kernels check sgemm");
//   check.option("--size", options->size, "small, medium or large", {.show_default = true});
//   check.run([options] { return run_check(*options); });
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace wm::cli {

// The exit code: 0 done, 1 something that was checked did not pass. An error is bad input: one line on stderr, exit 2.
using Action = std::function<Result<int>()>;

// Properties of an option besides its name.
struct Taken {
  bool required = false;
  bool show_default = false;
  double low = 0;  // numbers outside [low, high] are refused, where high is not 0
  double high = 0;
  const char* type = nullptr;  // the name of its value in the help: "FILE"
  bool output = false;         // a file that is written: an unwritable path is refused before anything runs
};

class Command {
 public:
  Command(CLI::App& app, Action& chosen) : app_(&app), chosen_(&chosen) {}

  // A command below this one. `examples` are the lines that end its help.
  [[nodiscard]] Command add(const std::string& name, const std::string& about, const std::string& examples) const;

  // A name without dashes is a positional. Options that fill a list may be repeated, with one value each time; a
  // positional list takes all values.
  void option(const std::string& name, std::string& out, const std::string& about, Taken taken = {}) const;
  void option(const std::string& name, std::vector<std::string>& out, const std::string& about, Taken taken = {}) const;
  void option(const std::string& name, std::uint64_t& out, const std::string& about, Taken taken = {}) const;
  void option(const std::string& name, unsigned& out, const std::string& about, Taken taken = {}) const;
  void option(const std::string& name, double& out, const std::string& about, Taken taken = {}) const;
  // An option that --help does not list: other parts of warpmux use it, not people.
  void hidden_option(const std::string& name, std::string& out, const std::string& about) const;
  void flag(const std::string& name, bool& out, const std::string& about) const;
  void hidden_flag(const std::string& name, bool& out, const std::string& about) const;
  // --json FILE, as every command that prints results takes it.
  void json(std::string& out) const;

  // Sets the action for when this command is chosen, and no command below it.
  void run(Action action) const;
  // One of the commands below must be chosen.
  void needs_command() const;

 private:
  CLI::App* app_;
  Action* chosen_;
};

}  // namespace wm::cli
