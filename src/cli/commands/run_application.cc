// wm run: runs a command whose OpenCL loader finds warpmux's driver and no other.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands/command.h"
#include "cli/input/driver_library.h"
#include "cli/input/process.h"
#include "runtime/protocol/monitor.h"
#include "runtime/protocol/socket.h"

namespace wm::cli {
namespace {

namespace fs = std::filesystem;

struct RunApplicationOptions {
  std::string socket, library;
  double share = 0;
  std::uint64_t priority = 0;
  std::vector<std::string> command;
};

// Waits for the application. While it owns the terminal, interrupts are for it to handle.
int wait_for(pid_t child) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  return WEXITSTATUS(status);
}

Result<int> run_application(const RunApplicationOptions& options) {
  if (options.command.empty()) return Error{"run what? wm run -- APP ARGUMENTS…"};
  const std::string socket = options.socket.empty() ? runtime::default_socket() : options.socket;
  if (const auto there = runtime::request_status(socket); !there) return there.error();
  const auto library = find_driver(options.library);
  if (!library) return library.error();
  // The loader finds only the driver in this folder. The loader that comes with CUDA does not accept a folder
  // but the library itself.
  auto folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  std::ofstream(folder->file("warpmux.icd")) << *library << "\n";
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return Error{std::string("fork: ") + std::strerror(errno)};
  if (child == 0) {
    ::setenv("OCL_ICD_VENDORS", fs::path(folder->file("")).parent_path().c_str(), 1);
    ::setenv("WARPMUX_SOCKET", socket.c_str(), 1);
    ::setenv("WARPMUX_VERBOSE", "1", 1);
    ::setenv("OCL_ICD_FILENAMES", library->c_str(), 1);
    ::unsetenv("WARPMUX_DISABLE");
    if (options.share > 0) ::setenv("WARPMUX_SHARE", std::to_string(options.share).c_str(), 1);
    if (options.priority > 0) ::setenv("WARPMUX_PRIORITY", std::to_string(options.priority).c_str(), 1);
    std::vector<char*> words;
    for (const std::string& w : options.command) words.push_back(const_cast<char*>(w.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    std::fprintf(stderr, "wm: %s: %s\n", words[0], std::strerror(errno));
    std::_Exit(127);
  }
  const int code = wait_for(child);
  if (!runtime::request_status(socket)) {  // a dying daemon may still accept connections, but does not answer
    std::fprintf(stderr, "wm: the daemon at %s is gone; what the application did after that had no device\n",
                 socket.c_str());
    return code == 0 ? 1 : code;
  }
  return code;
}

}  // namespace

void add_run(const Command& wm) {
  auto options = std::make_shared<RunApplicationOptions>();
  const Command run = wm.add("run", "Run an OpenCL application on the shared device",
                             "wm run -- clinfo\nwm run --share 2 -- ./app --size 4096");
  run.option("command", options->command, "The application and its arguments, after --");
  run.option("--socket", options->socket, "The daemon's socket", {.type = "FILE"});
  run.option("--share", options->share, "Its weight among others, where the policy has shares", {.high = 1000});
  run.option("--priority", options->priority, "Larger goes first, where the policy has priorities", {.high = 100});
  run.option("--library", options->library, "The driver, where it is not beside wm", {.type = "FILE"});
  run.run([options] { return run_application(*options); });
}

}  // namespace wm::cli
