#include "cli/input/raw_keyboard.h"

#include <array>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

namespace wm::cli {
namespace {

constexpr std::array kRestoringSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};

// Signal handlers have no other way to know the settings.
termios g_usual_settings{};
termios g_raw_settings{};

// Every function called here may be called by a signal handler. A flag that the main loop reads would not do: the
// process may wait for a daemon that does not answer.
void restore_terminal(int signal) {
  ::tcsetattr(STDIN_FILENO, TCSANOW, &g_usual_settings);
  if (signal == SIGTSTP) {
    ::raise(SIGSTOP);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &g_raw_settings);
    return;
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // delivered when this handler returns
}

}  // namespace

RawKeyboard::RawKeyboard() : active_(::isatty(STDIN_FILENO) != 0 && ::tcgetattr(STDIN_FILENO, &g_usual_settings) == 0) {
  if (!active_) return;
  g_raw_settings = g_usual_settings;
  g_raw_settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  struct sigaction action {};
  action.sa_handler = restore_terminal;
  action.sa_flags = SA_RESTART;
  for (const int signal : kRestoringSignals) sigaddset(&action.sa_mask, signal);
  for (const int signal : kRestoringSignals) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // nohup ignores SIGHUP
  }
  ::tcsetattr(STDIN_FILENO, TCSANOW, &g_raw_settings);
}

RawKeyboard::~RawKeyboard() {
  if (active_) ::tcsetattr(STDIN_FILENO, TCSANOW, &g_usual_settings);
}

bool RawKeyboard::quits_within(double seconds) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  pollfd watched{STDIN_FILENO, POLLIN, 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    if (::poll(&watched, active_ ? 1 : 0, static_cast<int>(left)) <= 0) continue;
    char key = 0;
    if (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q') return true;
    return false;  // another key shows the clients at once
  }
}

}  // namespace wm::cli
