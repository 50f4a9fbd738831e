// Rows for tests of the store, and a child process that something bad happens to.
#pragma once

#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/store/store.h"

namespace wm::lab {

inline Row some_row(int i, std::size_t bytes = 200) {
  Row r;
  r.key = std::string(i < 10 ? "k0" : "k") + std::to_string(i);
  r.command = "wm sim --kernel vecadd --seed " + std::to_string(i);
  r.gpu = "g";
  r.spec = R"({"schema":1,"kernels":[{"name":"vecadd"}]})";
  r.seed = static_cast<std::uint64_t>(i);
  r.code_version = "c";
  r.run_hash = "h" + std::to_string(i);
  r.host_seconds = 0.25 * i;
  r.result = R"({"cycles":)" + std::to_string(i) + R"(,"kernels":[{"ipc":1.5}],"filler":")" + std::string(bytes, 'x') +
             R"("})";
  return r;
}

// Runs `task` in a process of its own and returns its exit code, or 128 and the signal that ended it.
inline int in_child(const std::function<int()>& task) {
  const pid_t child = fork();
  if (child == 0) _exit(task());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace wm::lab
