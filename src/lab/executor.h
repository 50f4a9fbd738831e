// Who runs cells: processes on this machine (local_executor.h), or whatever stands behind this contract.
//
// A job is a command that writes its result to a file, whole or not at all, and says what went wrong on stderr. An
// executor starts jobs and tells which ended; it knows nothing of experiments or stores.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace wm::lab {

struct Job {
  std::string id;
  std::vector<std::string> command;  // program first
  std::string said;                  // the file that takes its stderr
};

struct Ended {
  std::string id;
  int code = 0;        // exit code, or 128 and the signal that ended it
  double seconds = 0;  // of the clock
  double busy = 0;     // of processors
};

class Executor {
 public:
  virtual ~Executor() = default;
  // How many more jobs it takes now.
  [[nodiscard]] virtual std::size_t room() const = 0;
  virtual Result<void> start(const Job& job) = 0;
  // Waits until at least one job ended; none when nothing runs.
  virtual Result<std::vector<Ended>> wait() = 0;
};

}  // namespace wm::lab
