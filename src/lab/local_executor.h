// Jobs as processes on this machine, so many at a time. They die with the process that started them, however it ends:
// what is started again after a kill never runs beside an orphan of itself.
#pragma once

#include <chrono>
#include <map>
#include <sys/types.h>

#include "lab/executor.h"

namespace wm::lab {

class LocalExecutor final : public Executor {
 public:
  explicit LocalExecutor(std::size_t jobs) : jobs_(jobs) {}
  ~LocalExecutor() override;
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;

  [[nodiscard]] std::size_t room() const override { return jobs_ - running_.size(); }
  Result<void> start(const Job& job) override;
  Result<std::vector<Ended>> wait() override;

 private:
  struct Running {
    std::string id;
    std::chrono::steady_clock::time_point since;
  };
  std::size_t jobs_;
  std::map<pid_t, Running> running_;
};

}  // namespace wm::lab
