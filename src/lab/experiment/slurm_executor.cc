#include "lab/experiment/slurm_executor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

#include "base/file.h"

namespace wm::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJobName = "wm-lab";

// `times` prints the processor time of the shell, then that of its children. The file appears complete or not at all.
constexpr const char* kTask = R"sh(#!/bin/sh
# One task of a Slurm job array: runs the command in the line of that number.
folder=$1
task=$SLURM_ARRAY_TASK_ID
begin=$(date +%s)
eval "$(sed -n "${task}p" "$folder/commands")"
code=$?
{ echo "$code $(($(date +%s) - begin))"; times; } >"$folder/$task.part" && mv "$folder/$task.part" "$folder/$task.ended"
)sh";

std::string shell_quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_line(const Job& job) {
  std::string line;
  for (const std::string& word : job.command) line += shell_quoted(word) + " ";
  return line + "</dev/null >/dev/null 2>" + shell_quoted(job.error_file) + "\n";
}

std::string ended_file(const std::string& folder, std::size_t task) { return fmt::format("{}/{}.ended", folder, task); }

// Reads the file of a task that has ended; nothing where it has not.
std::optional<FinishedCell> read_ended(const std::string& folder, std::size_t task, const std::string& id) {
  std::error_code ignored;
  if (!fs::exists(ended_file(folder, task), ignored)) return std::nullopt;
  const auto text = read_file(ended_file(folder, task));
  FinishedCell ended{.id = id};
  double user_minutes = 0, user = 0, system_minutes = 0, system = 0;
  if (!text || std::sscanf(text->c_str(), "%d %lf %*fm%*fs %*fm%*fs %lfm%lfs %lfm%lfs", &ended.code,  // NOLINT
                           &ended.seconds, &user_minutes, &user, &system_minutes, &system) < 2) {
    return std::nullopt;
  }
  ended.busy_seconds = 60 * (user_minutes + system_minutes) + user + system;
  return ended;
}

// The last line of `text` that begins with a digit, up to a semicolon: what `sbatch --parsable` prints.
std::string job_number(const std::string& text) {
  std::istringstream lines(text);
  std::string number;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] >= '0' && line[0] <= '9') number = line.substr(0, line.find(';'));
  return number;
}

std::string text_of(const std::string& path) {
  auto text = read_file(path);
  return text ? *std::move(text) : "";
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> all;
  std::istringstream lines(text_of(path));
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

}  // namespace

std::size_t SlurmExecutor::room() const { return std::numeric_limits<std::size_t>::max() - pending_.size(); }

Result<void> SlurmExecutor::begin(const std::set<std::string>& ids) {
  std::error_code ignored;
  if (!fs::exists(options_.folder, ignored)) return {};
  const auto queued = queue();
  if (!queued) return queued.error();
  for (const auto& entry : fs::directory_iterator(options_.folder, ignored)) {
    Array array{entry.path().string(), text_of((entry.path() / "number").string()), {}, {}};
    std::vector<std::string> unwanted;
    const auto names = lines_of((entry.path() / "ids").string());
    for (std::size_t task = 1; task <= names.size(); ++task) {
      if (!queued->contains({array.number, task})) continue;
      if (!ids.contains(names[task - 1])) {
        unwanted.push_back(fmt::format("{}_{}", array.number, task));
      } else if (earlier_.insert(names[task - 1]).second) {
        array.left.emplace(task, names[task - 1]);
      }
    }
    if (!unwanted.empty()) {
      unwanted.insert(unwanted.begin(), "scancel");
      if (auto cancelled = command_(unwanted); !cancelled) return cancelled.error();
    }
    if (array.left.empty()) {
      fs::remove_all(entry.path(), ignored);
    } else {
      arrays_.push_back(std::move(array));
    }
  }
  return {};
}

Result<void> SlurmExecutor::start(const Job& job) {
  if (earlier_.erase(job.id) == 0) pending_.push_back(job);
  return {};
}

Result<void> SlurmExecutor::submit(std::size_t from, std::size_t count) {
  std::error_code failed;
  std::string folder;
  for (std::size_t i = 1; folder.empty() || fs::exists(folder, failed); ++i)
    folder = fmt::format("{}/{}", options_.folder, i);
  fs::create_directories(folder, failed);
  if (failed) return Error{fmt::format("cannot make the folder '{}': {}", folder, failed.message())};
  std::string commands, ids;
  Array array{folder, "", {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const Job& job = pending_[from + i];
    commands += command_line(job);
    ids += job.id + "\n";
    array.left.emplace(i + 1, job.id);
  }
  for (const auto& [name, text] : {std::pair{"commands", &commands}, std::pair{"ids", &ids}})
    if (auto written = write_file(folder + "/" + name, *text); !written) return written;
  if (auto written = write_file(folder + "/task.sh", kTask); !written) return written;
  const std::string limit = options_.at_a_time == 0 ? "" : fmt::format("%{}", options_.at_a_time);
  std::vector<std::string> words = {"sbatch",
                                    "--parsable",
                                    fmt::format("--array=1-{}{}", count, limit),
                                    fmt::format("--job-name={}", kJobName),
                                    "--output=/dev/null",
                                    "--error=/dev/null",
                                    "--requeue",
                                    "--ntasks=1",
                                    "--chdir=" + fs::current_path(failed).string()};
  words.insert(words.end(), options_.sbatch.begin(), options_.sbatch.end());
  words.insert(words.end(), {folder + "/task.sh", folder});
  const auto told = command_(words);
  if (!told) return told.error();
  array.number = job_number(*told);
  if (array.number.empty()) return Error{fmt::format("sbatch does not name the job: {}", *told)};
  if (auto written = write_file(folder + "/number", array.number); !written) return written;
  arrays_.push_back(std::move(array));
  return {};
}

Result<SlurmExecutor::Queue> SlurmExecutor::queue() const {
  const auto told =
      command_({"squeue", "--noheader", "--array", "--me", fmt::format("--name={}", kJobName), "--format=%F %K"});
  if (!told) return told.error();
  Queue tasks;
  std::istringstream lines(*told);
  std::size_t task = 0;
  for (std::string number; lines >> number >> task;) tasks.emplace(number, task);
  return tasks;
}

void SlurmExecutor::collect(Array& array, std::vector<FinishedCell>& finished) const {
  for (auto at = array.left.begin(); at != array.left.end();) {
    // A task of an earlier process is reported once it has been started here.
    const auto ended = earlier_.contains(at->second) ? std::nullopt : read_ended(array.folder, at->first, at->second);
    if (ended) finished.push_back(*ended);
    at = ended ? array.left.erase(at) : std::next(at);
  }
}

// A task may leave the queue before its file is visible here, so it is lost only when two polls have not found it.
void SlurmExecutor::collect_lost(Array& array, const Queue& queued, std::vector<FinishedCell>& finished) const {
  std::set<std::size_t> absent;
  for (auto at = array.left.begin(); at != array.left.end();) {
    const auto [task, id] = *at;
    const bool gone = !queued.contains({array.number, task});
    const bool lost = gone && array.absent.contains(task) && !earlier_.contains(id);
    if (lost) finished.push_back({.id = id, .lost = true});
    if (gone && !lost) absent.insert(task);
    at = lost ? array.left.erase(at) : std::next(at);
  }
  array.absent = std::move(absent);
}

void SlurmExecutor::remove_finished() {
  std::error_code ignored;
  std::erase_if(arrays_, [&](const Array& array) {
    if (array.left.empty()) fs::remove_all(array.folder, ignored);
    return array.left.empty();
  });
  fs::remove(options_.folder, ignored);  // fails, as intended, while an array is left in it
}

Result<std::vector<FinishedCell>> SlurmExecutor::wait() {
  for (std::size_t from = 0; from < pending_.size(); from += options_.max_array)
    if (auto done = submit(from, std::min(options_.max_array, pending_.size() - from)); !done) return done.error();
  pending_.clear();
  using Clock = std::chrono::steady_clock;
  auto polled = Clock::now();
  std::vector<FinishedCell> finished;
  while (finished.empty() && !arrays_.empty()) {
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.seconds_between_looks));
    const bool poll = std::chrono::duration<double>(Clock::now() - polled).count() >= options_.seconds_between_polls;
    // A controller that does not answer says nothing about the tasks.
    const auto queued = poll ? queue() : Result<Queue>(Queue{});
    if (poll) polled = Clock::now();
    for (Array& array : arrays_) {
      collect(array, finished);
      if (poll && queued) collect_lost(array, *queued, finished);
    }
  }
  remove_finished();
  return finished;
}

}  // namespace wm::lab
