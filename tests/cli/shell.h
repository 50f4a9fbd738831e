// Runs a program as a user would, for tests: exit code, stdout and stderr apart.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace wm::cli {

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

// A shell command line.
Ran shell(const std::string& command);

// The built wm with these arguments, which must not need quoting.
Ran run_wm(const std::string& arguments);

// A fresh folder for one test, named after it, gone afterwards.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string path(const std::string& name = "") const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& content, bool executable = false) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace wm::cli
