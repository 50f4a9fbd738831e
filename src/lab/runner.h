// Runs the cells that a store does not have, each a process, and puts every outcome into the store as it comes.
//
// First what kernels do alone, once each, into the cache; then the cells. A cell's process writes its result beside the
// store (STORE.cells/KEY.json) and the runner moves it in. Killed at any moment, the next run takes in what was
// finished but not yet stored, and runs only what is missing. A cell that fails is stored with what it said and the
// command that repeats it; the others go on.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "lab/executor.h"
#include "lab/matrix.h"
#include "lab/store.h"

namespace wm::lab {

struct RunnerOptions {
  std::string program;    // wm
  std::string cache;      // of rates alone
  bool retry = false;     // cells that failed under this code
  bool again = false;     // all cells, stored or not
  bool keep_old = false;  // rows of other code count as done
};

struct Progress {
  std::size_t done = 0;  // of those to run
  std::size_t total = 0;
  double seconds_left = 0;  // an estimate; 0: none yet
  std::string what;
};

struct RunSummary {
  std::size_t cells = 0;   // different ones
  std::size_t stored = 0;  // were in the store
  std::size_t ran = 0;
  std::size_t failed = 0;
  std::size_t taken_in = 0;  // finished by a run that was killed
  double host_seconds = 0;   // of processors, for the cells that ran …
  double alone_seconds = 0;  // … and for what kernels do alone
};

class Runner {
 public:
  Runner(Store& store, std::string store_path, Executor& executor, RunnerOptions options)
      : store_(store), path_(std::move(store_path)), executor_(executor), options_(std::move(options)) {}

  // What is left to run; each key once.
  Result<std::vector<Cell>> missing(const Matrix& matrix, RunSummary& summary);
  Result<RunSummary> run(const Matrix& matrix, const std::function<void(const Progress&)>& tell);

 private:
  Result<void> take_in_leftovers(const Matrix& matrix, RunSummary& summary);
  Result<void> run_alone(const std::vector<Cell>& cells, const std::function<void(const Progress&)>& tell,
                         RunSummary& summary);
  Result<void> take_in(const Cell& cell, const Ended& ended, RunSummary& summary);
  [[nodiscard]] bool counts(const Row& row, const Cell& cell) const;
  [[nodiscard]] std::string beside(const std::string& name) const { return path_ + ".cells/" + name; }

  Store& store_;
  std::string path_;
  Executor& executor_;
  RunnerOptions options_;
};

}  // namespace wm::lab
