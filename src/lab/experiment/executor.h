// The contract of an executor, which runs the cells of an experiment: local_executor.h runs them as processes here,
// slurm_executor.h as job arrays of a cluster.
//
// A job is a command that writes its result to a file, completely or not at all, and its error messages to stderr. An
// executor starts jobs and reports which have ended; it knows neither experiments nor stores.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace wm::lab {

struct Job {
  std::string id;
  std::vector<std::string> command;  // the program, then its arguments
  std::string error_file;            // receives its stderr
};

struct FinishedCell {
  std::string id;
  int code = 0;             // exit code, or 128 + the number of the signal that ended it
  double seconds = 0;       // elapsed time
  double busy_seconds = 0;  // processor time
  bool lost = false;        // it ended for a reason of the executor's, such as a failed node, and has no result
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Names the jobs that will be started. Where jobs of an earlier process still run, those among them continue, and the
  // others end.
  virtual Result<void> begin(const std::set<std::string>& ids) {
    (void)ids;
    return {};
  }
  // The number of jobs that can be started now.
  [[nodiscard]] virtual std::size_t room() const = 0;
  virtual Result<void> start(const Job& job) = 0;
  // Waits until at least one job has ended. Returns none when no job runs.
  virtual Result<std::vector<FinishedCell>> wait() = 0;
};

}  // namespace wm::lab
