// Runs the cells that a store does not have, one process per cell, and stores each outcome when its cell ends. Cells of
// the block machine can run on threads of this process.
//
// The isolated rates of the kernels are measured first, into the cache. A process reads the RunSpec of its cell from
// STORE.cells/KEY.spec.json and writes the result to STORE.cells/KEY.json, which the runner moves into the store. After
// a kill at any moment the next run imports the results that were finished but not stored, and runs the missing cells.
// A cell that fails is stored with its messages and the command that repeats it; the other cells go on. A cell that is
// lost with its node is not stored, so that the next run runs it.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "lab/experiment/cell_threads.h"
#include "lab/experiment/executor.h"
#include "lab/experiment/matrix.h"
#include "lab/store/row_store.h"

namespace wm::lab {

struct RunnerOptions {
  std::string program;    // wm
  std::string cache;      // cache of isolated rates
  bool retry = false;     // run cells again that failed under this code
  bool again = false;     // run all cells, stored or not
  bool keep_old = false;  // accept rows of other code
  // Runs cells of the block machine here, as many at a time as the executor has room for; empty: they are jobs of the
  // executor as well.
  CellThreads::Run run_block = {};
};

struct Progress {
  std::size_t done = 0;  // jobs done, out of `total`
  std::size_t total = 0;
  double seconds_left = 0;  // an estimate; 0: none yet
  std::string label;        // label of the job that ended last
};

struct RunSummary {
  std::size_t cells = 0;   // distinct cells
  std::size_t stored = 0;  // cells that the store had; those of older code count where they are confirmed
  std::size_t ran = 0;
  std::size_t failed = 0;
  std::size_t lost = 0;         // cells whose node failed; they are still missing
  std::size_t imported = 0;     // results of a run that was killed before it stored them
  double host_seconds = 0;      // processor time of the cells that ran
  double isolated_seconds = 0;  // processor time of the isolated runs
};

class Runner {
 public:
  Runner(RowStore& store, std::string store_path, Executor& executor, RunnerOptions options)
      : store_(store), path_(std::move(store_path)), executor_(executor), options_(std::move(options)) {}

  // The cells that must be run, each key once.
  Result<std::vector<Cell>> missing(const Matrix& matrix, RunSummary& summary);
  Result<RunSummary> run(const Matrix& matrix, const std::function<void(const Progress&)>& report);

 private:
  Result<void> read_confirmations();
  Result<void> begin(const std::vector<Cell>& cells);
  Result<void> import_unstored(const Matrix& matrix, RunSummary& summary);
  Result<void> run_isolated(const std::vector<Cell>& cells, const std::function<void(const Progress&)>& report,
                            RunSummary& summary);
  Result<void> run_cells(const std::vector<Cell>& cells, const std::function<void(const Progress&)>& report,
                         RunSummary& summary);
  Result<void> run_here(const std::vector<const Cell*>& cells, const std::function<void(const Progress&)>& report,
                        RunSummary& summary);
  Result<void> store_outcome(const Cell& cell, const FinishedCell& finished, RunSummary& summary);
  // Whether a stored row makes running the cell unnecessary.
  [[nodiscard]] bool satisfies(const Row& row, const Cell& cell) const;
  // A job that runs `spec` in a process of its own. Writes the file that the process reads.
  [[nodiscard]] Result<Job> job_of(const std::string& id, const RunSpec& spec) const;
  [[nodiscard]] std::string cell_file(const std::string& name) const { return path_ + ".cells/" + name; }

  RowStore& store_;
  std::string path_;
  Executor& executor_;
  RunnerOptions options_;
  Confirmations confirmed_;
};

}  // namespace wm::lab
