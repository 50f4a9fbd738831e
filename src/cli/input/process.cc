#include "cli/input/process.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace wm::cli {

Result<Finished> run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Error{"no pipe to '" + words[0] + "'"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int code = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  Finished finished;
  std::array<char, 4096> chunk{};
  for (ssize_t count = 0; (count = read(ends[0], chunk.data(), chunk.size())) != 0;) {
    if (count > 0) finished.output.append(chunk.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  if (code != 0)
    return Error{"cannot start '" + words[0] + "': " + std::strerror(code)};  // NOLINT(concurrency-mt-unsafe)
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code code;
  std::string path = (std::filesystem::temp_directory_path(code) / "wm-XXXXXX").string();
  if (code || mkdtemp(path.data()) == nullptr) return Error{"cannot make a temporary folder"};
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace wm::cli
