// Runs another program and waits for it: its exit code, and its stdout and stderr as one text.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace wm::cli {

struct Finished {
  int code = 0;
  std::string output;
};

Result<Finished> run_program(const std::vector<std::string>& words);

// A new folder for intermediate files, which the destructor removes.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace wm::cli
