#include "cli/input/foreground_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wm::cli {
namespace {

constexpr std::array kForwarded{SIGTERM, SIGINT, SIGHUP};
volatile sig_atomic_t g_child = 0;  // a signal handler has no other way to know the process

// A signal of the terminal reaches the whole process group, so the program has it already; one that a process sent to
// this process does not.
void forward(int signal, siginfo_t* info, void*) {
  const bool from_process = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
  if (from_process && g_child > 0) ::kill(static_cast<pid_t>(g_child), signal);
}

[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::vector<std::pair<std::string, std::string>>& set_variables,
                         const std::vector<std::string>& unset_variables, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::_Exit(128 + SIGTERM);  // the parent died before PR_SET_PDEATHSIG
  for (const auto& [name, value] : set_variables) ::setenv(name.c_str(), value.c_str(), 1);
  for (const std::string& name : unset_variables) ::unsetenv(name.c_str());
  std::vector<char*> words;
  for (const std::string& w : command) words.push_back(const_cast<char*>(w.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  std::fprintf(stderr, "wm: %s: %s\n", words[0], std::strerror(errno));
  std::_Exit(127);
}

}  // namespace

Result<int> run_in_foreground(const std::vector<std::string>& command,
                              const std::vector<std::pair<std::string, std::string>>& set_variables,
                              const std::vector<std::string>& unset_variables) {
  std::fflush(nullptr);
  // Signals are blocked until the handlers know the child.
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int s : kForwarded) sigaddset(&blocked, s);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return Error{std::string("fork: ") + std::strerror(errno)};
  }
  if (child == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    become(command, set_variables, unset_variables, parent);
  }
  g_child = child;
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int s : kForwarded) ::sigaction(s, &action, nullptr);
  std::signal(SIGQUIT, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  g_child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace wm::cli
