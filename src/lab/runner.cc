#include "lab/runner.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sstream>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

namespace wm::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Held by one process at a time, and let go however it ends.
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

// The last lines of what a process said, for the row of a cell that failed.
std::string last_words(const std::string& path, int code) {
  std::string text = code > 128 ? fmt::format("killed by signal {}", code - 128) : fmt::format("exit code {}", code);
  auto said = read_file(path);
  if (!said || said->empty()) return text;
  if (said->size() > 2000) said = said->substr(said->size() - 2000);
  while (said->ends_with('\n')) said->pop_back();
  return text + ": " + *said;
}

// A result file as a done row; nothing where it is not a whole result.
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

// Runs `jobs` through the executor, in order; `ended` sees each. Stops at the first error.
Result<void> drive(Executor& executor, const std::vector<Job>& jobs,
                   const std::function<Result<void>(const Ended&)>& ended) {
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
    for (const Ended& e : *some) {
      --running;
      if (auto seen = ended(e); !seen) return seen;
    }
  }
  return {};
}

// Time left, from what went before: the mean of a job over those that run at a time.
double estimate(double spent, std::size_t done, std::size_t total, std::size_t at_a_time) {
  if (done == 0) return 0;
  return spent / static_cast<double>(done) * static_cast<double>(total - done) / static_cast<double>(at_a_time);
}

}  // namespace

bool Runner::counts(const Row& row, const Cell& cell) const {
  if (options_.again) return false;
  if (row.code_version != cell.code_version && !options_.keep_old) return false;
  return row.state == Row::State::done || !options_.retry;
}

Result<std::vector<Cell>> Runner::missing(const Matrix& matrix, RunSummary& summary) {
  std::vector<Cell> left;
  std::set<std::string> seen;
  for (const Cell& cell : matrix.cells) {
    if (!seen.insert(cell.key).second) continue;
    const auto row = store_.find(cell.key);
    if (!row) return row.error();
    if (*row && counts(**row, cell)) {
      ++summary.stored;
    } else {
      left.push_back(cell);
    }
  }
  summary.cells = seen.size();
  return left;
}

Result<void> Runner::take_in_leftovers(const Matrix& matrix, RunSummary& summary) {
  std::set<std::string> seen;
  for (const Cell& cell : matrix.cells) {
    const std::string file = beside(cell.key + ".json");
    std::error_code ignored;
    if (!seen.insert(cell.key).second || !fs::exists(file, ignored)) continue;
    const auto text = read_file(file);
    if (!text) return text.error();
    const Json document = Json::parse(*text, nullptr, false);
    const auto stored = store_.find(cell.key);
    if (!stored) return stored.error();
    // Killed between putting the row and removing the file: the row stays as it is.
    const bool wanted = document.is_object() && document.value("code_version", "") == cell.code_version &&
                        !(*stored && counts(**stored, cell));
    if (const auto row = wanted ? done_row(cell, *text, document.at("host").value("seconds", 0.0)) : std::nullopt) {
      if (auto put = store_.put(*row); !put) return put;
      ++summary.taken_in;
    }
    fs::remove(file, ignored);
  }
  return {};
}

Result<void> Runner::run_alone(const std::vector<Cell>& cells, const std::function<void(const Progress&)>& tell,
                               RunSummary& summary) {
  std::vector<Job> jobs;
  std::set<std::string> seen;
  for (const Cell& cell : cells)
    for (const std::string& words : cell.alone) {
      if (!seen.insert(words).second) continue;
      Job job{words, {options_.program}, "/dev/null"};
      std::istringstream stream(words);
      for (std::string word; stream >> word;) job.command.push_back(word);
      job.command.insert(job.command.end(), {"--cache", options_.cache});
      jobs.push_back(std::move(job));
    }
  std::size_t done = 0;
  double spent = 0;
  const std::size_t at_a_time = std::max<std::size_t>(1, executor_.room());
  // A kernel that fails alone fails in its cells too, which say so.
  return drive(executor_, jobs, [&](const Ended& e) -> Result<void> {
    spent += e.seconds;
    summary.alone_seconds += e.busy;
    ++done;
    tell({done, jobs.size(), estimate(spent, done, jobs.size(), at_a_time), "alone: " + e.id});
    return {};
  });
}

Result<void> Runner::take_in(const Cell& cell, const Ended& ended, RunSummary& summary) {
  const std::string file = beside(cell.key + ".json");
  const std::string said = beside(cell.key + ".err");
  std::error_code ignored;
  const auto text = read_file(file);
  std::optional<Row> row = text ? done_row(cell, *text, ended.busy) : std::nullopt;
  if (!row) {
    row = cell.row();
    row->state = Row::State::failed;
    row->host_seconds = ended.busy;
    row->error = last_words(said, ended.code);
    ++summary.failed;
  }
  if (auto put = store_.put(*row); !put) return put;
  fs::remove(file, ignored);
  fs::remove(said, ignored);
  ++summary.ran;
  summary.host_seconds += ended.busy;
  return {};
}

Result<RunSummary> Runner::run(const Matrix& matrix, const std::function<void(const Progress&)>& tell) {
  RunSummary summary;
  std::error_code failed;
  fs::create_directories(path_ + ".cells", failed);
  if (failed) return Error{fmt::format("cannot make the folder '{}.cells': {}", path_, failed.message())};
  const Lock lock(beside("lock"));
  if (!lock.held()) return Error{fmt::format("another run is filling the store '{}'", path_)};
  for (const auto& [digest, text] : matrix.gpus)
    if (auto put = store_.put_gpu(digest, text); !put) return put.error();
  if (auto taken = take_in_leftovers(matrix, summary); !taken) return taken.error();
  const auto left = missing(matrix, summary);
  if (!left) return left.error();
  if (auto ran = run_alone(*left, tell, summary); !ran) return ran.error();

  std::map<std::string, const Cell*> by_key;
  std::vector<Job> jobs;
  for (const Cell& cell : *left) {
    by_key[cell.key] = &cell;
    Job job{cell.key, {options_.program}, beside(cell.key + ".err")};
    job.command.insert(job.command.end(), cell.words.begin(), cell.words.end());
    job.command.insert(job.command.end(), {"--cache", options_.cache, "--json", beside(cell.key + ".json")});
    jobs.push_back(std::move(job));
  }
  std::size_t done = 0;
  double spent = 0;
  const std::size_t at_a_time = std::max<std::size_t>(1, executor_.room());
  auto ran = drive(executor_, jobs, [&](const Ended& e) -> Result<void> {
    spent += e.seconds;
    const Cell& cell = *by_key.at(e.id);
    if (auto taken = take_in(cell, e, summary); !taken) return taken;
    ++done;
    tell({done, jobs.size(), estimate(spent, done, jobs.size(), at_a_time),
          cell.labels.at("workload") + " " + cell.labels.at("policy")});
    return {};
  });
  if (!ran) return ran.error();
  fs::remove(beside("lock"), failed);
  fs::remove(path_ + ".cells", failed);  // stays where something is in it
  return summary;
}

}  // namespace wm::lab
