// Runs jobs as processes on this machine, a limited number at a time. The processes are killed when the executor's own
// process ends for any reason, so that a restarted run never competes with orphans of the previous one.
#pragma once

#include <chrono>
#include <map>
#include <sys/types.h>

#include "lab/experiment/executor.h"

namespace wm::lab {

class LocalExecutor final : public Executor {
 public:
  explicit LocalExecutor(std::size_t jobs) : jobs_(jobs) {}
  ~LocalExecutor() override;
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;

  [[nodiscard]] std::size_t room() const override { return jobs_ - running_.size(); }
  Result<void> start(const Job& job) override;
  Result<std::vector<FinishedCell>> wait() override;

 private:
  struct Running {
    std::string id;
    std::chrono::steady_clock::time_point since;
  };
  std::size_t jobs_;
  std::map<pid_t, Running> running_;
};

}  // namespace wm::lab
