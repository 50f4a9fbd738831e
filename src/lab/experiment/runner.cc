#include "lab/experiment/runner.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

namespace wm::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A lock that one process holds at a time, and that is released however the process ends.
class Lock {
 public:
  explicit Lock(const std::string& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {}
  ~Lock() { close(file_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  [[nodiscard]] bool held() const { return file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) == 0; }

 private:
  int file_;
};

// The exit code and the last messages of a process, for the row of a cell that failed.
std::string failure_text(const std::string& path, int code) {
  std::string text = code > 128 ? fmt::format("killed by signal {}", code - 128) : fmt::format("exit code {}", code);
  auto messages = read_file(path);
  if (!messages || messages->empty()) return text;
  if (messages->size() > 2000) messages = messages->substr(messages->size() - 2000);
  while (messages->ends_with('\n')) messages->pop_back();
  return text + ": " + *messages;
}

// A result file as a done row; nothing where the file is not a complete result.
std::optional<Row> done_row(const Cell& cell, const std::string& text, double seconds) {
  const Json result = Json::parse(text, nullptr, false);
  if (!result.is_object() || !result.contains("run_hash") || !result["run_hash"].is_string()) return std::nullopt;
  Row row = cell.row();
  row.state = Row::State::done;
  row.run_hash = result["run_hash"];
  row.host_seconds = seconds;
  row.result = result.dump();
  return row;
}

// Runs `jobs` through the executor, in order, and calls `finished` for each. Stops at the first error.
Result<void> drive(Executor& executor, const std::vector<Job>& jobs,
                   const std::function<Result<void>(const FinishedCell&)>& finished) {
  std::size_t next = 0;
  std::size_t running = 0;
  while (next < jobs.size() || running > 0) {
    while (next < jobs.size() && executor.room() > 0) {
      if (auto started = executor.start(jobs[next]); !started) return started;
      ++next;
      ++running;
    }
    const auto some = executor.wait();
    if (!some) return some.error();
    for (const FinishedCell& e : *some) {
      --running;
      if (auto handled = finished(e); !handled) return handled;
    }
  }
  return {};
}

// The time left: the mean time of a finished job, divided by the number of jobs that run at a time.
double estimate(double spent, std::size_t done, std::size_t total, std::size_t at_a_time) {
  if (done == 0) return 0;
  return spent / static_cast<double>(done) * static_cast<double>(total - done) / static_cast<double>(at_a_time);
}

std::string isolated_id(const RunSpec& spec, const Cell& cell) { return "isolated-" + key_of(spec, cell.gpu_digest); }

}  // namespace

bool Runner::satisfies(const Row& row, const Cell& cell) const {
  if (options_.again) return false;
  // A failed row says nothing about newer code.
  const bool is_current = row.code_version == cell.code_version ||
                          (row.state == Row::State::done && confirmed_.covers(row.code_version, cell.code_version));
  if (!is_current && !options_.keep_old) return false;
  return row.state == Row::State::done || !options_.retry;
}

Result<void> Runner::read_confirmations() {
  auto confirmed = store_.confirmations();
  if (!confirmed) return confirmed.error();
  confirmed_ = *std::move(confirmed);
  return {};
}

Result<Job> Runner::job_of(const std::string& id, const RunSpec& spec) const {
  const std::string file = cell_file(id + ".spec.json");
  if (auto written = write_file(file, to_json(spec).dump()); !written) return written.error();
  return Job{id, {options_.program, "sim", "--spec", file, "--cache", options_.cache}, cell_file(id + ".err")};
}

Result<std::vector<Cell>> Runner::missing(const Matrix& matrix, RunSummary& summary) {
  if (auto read = read_confirmations(); !read) return read.error();
  std::vector<Cell> left;
  std::set<std::string> seen;
  for (const Cell& cell : matrix.cells) {
    if (!seen.insert(cell.key).second) continue;
    const auto row = store_.find(cell.key);
    if (!row) return row.error();
    if (*row && satisfies(**row, cell)) {
      ++summary.stored;
    } else {
      left.push_back(cell);
    }
  }
  summary.cells = seen.size();
  return left;
}

Result<void> Runner::import_unstored(const Matrix& matrix, RunSummary& summary) {
  std::set<std::string> seen;
  for (const Cell& cell : matrix.cells) {
    const std::string file = cell_file(cell.key + ".json");
    std::error_code ignored;
    if (!seen.insert(cell.key).second || !fs::exists(file, ignored)) continue;
    const auto text = read_file(file);
    if (!text) return text.error();
    const Json document = Json::parse(*text, nullptr, false);
    const auto stored = store_.find(cell.key);
    if (!stored) return stored.error();
    // A process that was killed after storing the row but before removing the file leaves both; the row stays.
    const bool wanted = document.is_object() && document.value("code_version", "") == cell.code_version &&
                        !(*stored && satisfies(**stored, cell));
    if (const auto row = wanted ? done_row(cell, *text, document.at("host").value("seconds", 0.0)) : std::nullopt) {
      if (auto put = store_.put(*row); !put) return put;
      ++summary.imported;
    }
    fs::remove(file, ignored);
  }
  return {};
}

Result<void> Runner::begin(const std::vector<Cell>& cells) {
  std::set<std::string> ids;
  for (const Cell& cell : cells) {
    ids.insert(cell.key);
    for (const RunSpec& spec : cell.isolated) ids.insert(isolated_id(spec, cell));
  }
  return executor_.begin(ids);
}

Result<void> Runner::run_isolated(const std::vector<Cell>& cells, const std::function<void(const Progress&)>& report,
                                  RunSummary& summary) {
  std::vector<Job> jobs;
  std::map<std::string, std::string> labels;  // by job
  for (const Cell& cell : cells)
    for (const RunSpec& spec : cell.isolated) {
      const std::string id = isolated_id(spec, cell);
      if (!labels.emplace(id, fmt::format("isolated: {} on {}", spec.kernels[0].name, spec.gpu)).second) continue;
      auto job = job_of(id, spec);
      if (!job) return job.error();
      job->command.emplace_back("--isolated");
      job->error_file = "/dev/null";
      jobs.push_back(*std::move(job));
    }
  std::size_t done = 0;
  double spent = 0;
  const std::size_t at_a_time = std::max<std::size_t>(1, executor_.room());
  // A kernel that fails in isolation also fails in its cells, which then store the messages.
  return drive(executor_, jobs, [&](const FinishedCell& e) -> Result<void> {
    spent += e.seconds;
    summary.isolated_seconds += e.busy_seconds;
    ++done;
    std::error_code ignored;
    fs::remove(cell_file(e.id + ".spec.json"), ignored);
    report({done, jobs.size(), estimate(spent, done, jobs.size(), at_a_time), labels.at(e.id)});
    return {};
  });
}

Result<void> Runner::store_outcome(const Cell& cell, const FinishedCell& finished, RunSummary& summary) {
  const std::string file = cell_file(cell.key + ".json");
  const std::string errors = cell_file(cell.key + ".err");
  std::error_code ignored;
  const auto text = read_file(file);
  std::optional<Row> row = text ? done_row(cell, *text, finished.busy_seconds) : std::nullopt;
  if (!row && finished.lost) {
    ++summary.lost;
    return {};
  }
  if (!row) {
    row = cell.row();
    row->state = Row::State::failed;
    row->host_seconds = finished.busy_seconds;
    row->error = failure_text(errors, finished.code);
    ++summary.failed;
  }
  if (auto put = store_.put(*row); !put) return put;
  fs::remove(file, ignored);
  fs::remove(errors, ignored);
  fs::remove(cell_file(cell.key + ".spec.json"), ignored);
  ++summary.ran;
  summary.host_seconds += finished.busy_seconds;
  return {};
}

// The rows of cells that ended together are stored in one transaction.
Result<void> Runner::run_here(const std::vector<const Cell*>& cells, const std::function<void(const Progress&)>& report,
                              RunSummary& summary) {
  const std::size_t at_a_time = std::max<std::size_t>(1, executor_.room());
  CellThreads threads(cells, at_a_time, options_.run_block);
  std::size_t done = 0;
  double spent = 0;
  for (auto some = threads.wait(); !some.empty(); some = threads.wait()) {
    std::vector<Row> rows;
    for (const CellThreads::Finished& f : some) {
      std::optional<Row> row = f.result ? done_row(*f.cell, *f.result, f.seconds) : std::nullopt;
      if (!row) {
        row = f.cell->row();
        row->state = Row::State::failed;
        row->host_seconds = f.seconds;
        row->error = f.result ? "no result" : f.result.error().to_string();
        ++summary.failed;
      }
      rows.push_back(*std::move(row));
      spent += f.seconds;
    }
    if (auto put = store_.put(rows); !put) return put;
    done += some.size();
    report({done, cells.size(), estimate(spent, done, cells.size(), at_a_time),
            some.back().cell->labels.at("workload") + " " + some.back().cell->labels.at("policy")});
  }
  summary.ran += done;
  summary.host_seconds += spent;
  return {};
}

Result<void> Runner::run_cells(const std::vector<Cell>& cells, const std::function<void(const Progress&)>& report,
                               RunSummary& summary) {
  std::map<std::string, const Cell*> by_key;
  std::vector<Job> jobs;
  std::vector<const Cell*> here;
  for (const Cell& cell : cells)
    if (options_.run_block && cell.spec.machine == "block") here.push_back(&cell);
  if (auto ran = run_here(here, report, summary); !ran) return ran;
  for (const Cell& cell : cells) {
    if (options_.run_block && cell.spec.machine == "block") continue;
    by_key[cell.key] = &cell;
    auto job = job_of(cell.key, cell.spec);
    if (!job) return job.error();
    job->command.insert(job->command.end(), {"--json", cell_file(cell.key + ".json")});
    jobs.push_back(*std::move(job));
  }
  std::size_t done = 0;
  double spent = 0;
  const std::size_t at_a_time = std::max<std::size_t>(1, executor_.room());
  return drive(executor_, jobs, [&](const FinishedCell& e) -> Result<void> {
    spent += e.seconds;
    const Cell& cell = *by_key.at(e.id);
    if (auto stored = store_outcome(cell, e, summary); !stored) return stored;
    ++done;
    report({done, jobs.size(), estimate(spent, done, jobs.size(), at_a_time),
            cell.labels.at("workload") + " " + cell.labels.at("policy")});
    return {};
  });
}

Result<RunSummary> Runner::run(const Matrix& matrix, const std::function<void(const Progress&)>& report) {
  RunSummary summary;
  std::error_code failed;
  fs::create_directories(path_ + ".cells", failed);
  if (failed) return Error{fmt::format("cannot make the folder '{}.cells': {}", path_, failed.message())};
  const Lock lock(cell_file("lock"));
  if (!lock.held()) return Error{fmt::format("another run is filling the store '{}'", path_)};
  for (const auto& [digest, text] : matrix.gpus)
    if (auto put = store_.put_gpu(digest, text); !put) return put.error();
  if (auto read = read_confirmations(); !read) return read.error();
  if (auto imported = import_unstored(matrix, summary); !imported) return imported.error();
  const auto left = missing(matrix, summary);
  if (!left) return left.error();
  if (auto begun = begin(*left); !begun) return begun.error();
  if (auto ran = run_isolated(*left, report, summary); !ran) return ran.error();
  if (auto ran = run_cells(*left, report, summary); !ran) return ran.error();
  // Specifications of cells that were lost, or that belong to a run that was killed.
  for (const auto& entry : fs::directory_iterator(path_ + ".cells", failed))
    if (entry.path().string().ends_with(".spec.json")) fs::remove(entry.path(), failed);
  fs::remove(cell_file("lock"), failed);
  fs::remove(path_ + ".cells", failed);  // fails, as intended, while a file is left in it
  return summary;
}

}  // namespace wm::lab
