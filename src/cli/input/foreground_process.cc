#include "cli/input/foreground_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wm::cli {
namespace {

constexpr std::array kForwardedSignals{SIGTERM, SIGINT, SIGHUP, SIGQUIT};

struct ProcessEntry {
  pid_t pid = 0, parent = 0, group = 0;
};

// All processes that /proc lists.
std::vector<ProcessEntry> process_entries() {
  std::vector<ProcessEntry> all;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at("/proc", ignored), end; at != end; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    ProcessEntry entry;
    if (std::from_chars(name.data(), name.data() + name.size(), entry.pid).ptr != name.data() + name.size()) continue;
    std::string text;
    std::getline(std::ifstream(at->path() / "stat"), text);
    const std::size_t after_name = text.rfind(')');
    if (after_name == std::string::npos) continue;
    if (std::sscanf(text.c_str() + after_name + 1, " %*c %d %d", &entry.parent, &entry.group) == 2)
      all.push_back(entry);
  }
  return all;
}

// Sends the signal to the descendants of the family in this process group. Orphans among these have this process as
// their parent. The program shares the group with this process, and possibly with a pipeline or a script that must not
// get the signal; a group of its own would take the terminal from those.
void signal_descendants(std::vector<pid_t> family, int signal) {
  const pid_t group = ::getpgrp();
  const auto in_family = [&](pid_t pid) { return std::find(family.begin(), family.end(), pid) != family.end(); };
  for (bool grows = true; grows;) {  // processes may start others meanwhile
    grows = false;
    for (const ProcessEntry& entry : process_entries()) {
      if (in_family(entry.pid) || !in_family(entry.parent) || entry.group != group) continue;
      family.push_back(entry.pid);
      ::kill(entry.pid, signal);
      grows = true;
    }
  }
}

void signal_program(pid_t program, int signal) {
  ::kill(program, signal);
  signal_descendants({::getpid(), program}, signal);
}

// A signal of the terminal reaches the whole process group, so the program has it already; one that a process sent to
// this process does not.
bool is_from_process(const siginfo_t& info) {
  return info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL;
}

// The status that the program ends with. Signals in `awaited` are blocked. A program that was told to end leaves
// nothing running: background jobs of a shell ignore SIGINT, and get SIGTERM.
int wait_and_forward(pid_t program, const sigset_t& awaited) {
  bool told_to_end = false;
  for (;;) {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended != program) continue;
      if (told_to_end) signal_descendants({::getpid()}, SIGTERM);
      return status;
    }
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&awaited, &info);
    if (signal <= 0 || signal == SIGCHLD) continue;
    told_to_end = true;
    if (is_from_process(info)) signal_program(program, signal);
  }
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
  sigset_t awaited;
  sigset_t before;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  for (const int s : kForwardedSignals) sigaddset(&awaited, s);
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  std::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
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
  // A signal that is ignored would not be delivered; scripts start background jobs that ignore SIGINT.
  for (const int s : kForwardedSignals) std::signal(s, [](int) {});
  const int status = wait_and_forward(child, awaited);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace wm::cli
