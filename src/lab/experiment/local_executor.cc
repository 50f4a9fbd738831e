#include "lab/experiment/local_executor.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wm::lab {
namespace {

// Runs in the child between fork and exec, where only async-signal-safe calls are allowed.
[[noreturn]] void become(char* const* arguments, const char* error_file, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before PR_SET_PDEATHSIG
  const int nothing = open("/dev/null", O_RDWR);
  const int errors = open(error_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(errors >= 0 ? errors : nothing, STDERR_FILENO);
  execvp(arguments[0], arguments);
  _exit(127);
}

}  // namespace

LocalExecutor::~LocalExecutor() {
  for (const auto& [pid, ignored] : running_) {
    kill(pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

Result<void> LocalExecutor::start(const Job& job) {
  std::vector<char*> arguments;
  for (const std::string& word : job.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0)
    return Error{std::string("cannot start a process: ") + std::strerror(errno)};  // NOLINT(concurrency-mt-unsafe)
  if (child == 0) become(arguments.data(), job.error_file.c_str(), parent);
  running_[child] = {job.id, std::chrono::steady_clock::now()};
  return {};
}

Result<std::vector<FinishedCell>> LocalExecutor::wait() {
  std::vector<FinishedCell> finished;
  while (finished.empty() && !running_.empty()) {
    int status = 0;
    rusage used{};
    const pid_t pid = wait4(-1, &status, 0, &used);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return Error{std::string("cannot wait for the processes: ") + std::strerror(errno)};  // NOLINT
    const auto found = running_.find(pid);
    if (found == running_.end()) continue;  // a child that this executor did not start
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - found->second.since;
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    finished.push_back({found->second.id, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                        took.count(), seconds(used.ru_utime) + seconds(used.ru_stime)});
    running_.erase(found);
  }
  return finished;
}

}  // namespace wm::lab
