// Runs jobs as tasks of Slurm job arrays, over a folder that all nodes can reach.
//
// An array has a folder with one command per line and one file per task that has ended. A task whose node fails is
// queued again by Slurm; a task that leaves the queue without such a file is lost. Arrays outlive the process that
// submitted them: the next one continues to wait for the tasks that are still queued or running.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "lab/experiment/executor.h"

namespace wm::lab {

class SlurmExecutor final : public Executor {
 public:
  struct Options {
    std::string folder;                   // for the arrays
    std::vector<std::string> sbatch;      // further options of sbatch
    std::size_t at_a_time = 0;            // tasks of an array that may run at once; 0: as many as Slurm starts
    std::size_t max_array = 1000;         // tasks of an array; Slurm's MaxArraySize is 1001 by default
    double seconds_between_polls = 5;     // between requests to Slurm's controller
    double seconds_between_looks = 0.25;  // between looks into the folders
  };
  // Runs a program; its output, or an error where it fails.
  using Command = std::function<Result<std::string>(const std::vector<std::string>&)>;
  SlurmExecutor(Options options, Command command) : options_(std::move(options)), command_(std::move(command)) {}

  Result<void> begin(const std::set<std::string>& ids) override;
  [[nodiscard]] std::size_t room() const override;
  Result<void> start(const Job& job) override;
  Result<std::vector<FinishedCell>> wait() override;

 private:
  struct Array {
    std::string folder;
    std::string number;                       // the number of the job in Slurm
    std::map<std::size_t, std::string> left;  // ids of tasks that have not ended
    std::set<std::size_t> absent;             // tasks that the last poll did not find in the queue
  };
  using Queue = std::set<std::pair<std::string, std::size_t>>;  // the number of an array, and a task

  Result<void> submit(std::size_t from, std::size_t count);
  // The tasks of this user's arrays that are queued or running.
  [[nodiscard]] Result<Queue> queue() const;
  // Moves tasks that have ended, or that are lost, from `array` to `finished`.
  void collect(Array& array, std::vector<FinishedCell>& finished) const;
  void collect_lost(Array& array, const Queue& queued, std::vector<FinishedCell>& finished) const;
  void remove_finished();

  Options options_;
  Command command_;
  std::vector<Job> pending_;
  std::vector<Array> arrays_;
  std::set<std::string> earlier_;  // ids of tasks of an earlier process that have not been started here
};

}  // namespace wm::lab
