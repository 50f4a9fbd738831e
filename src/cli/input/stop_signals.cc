#include "cli/input/stop_signals.h"

#include <csignal>
#include <sys/signalfd.h>

namespace wm::cli {

runtime::Descriptor stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return runtime::Descriptor(::signalfd(-1, &signals, SFD_CLOEXEC));
}

}  // namespace wm::cli
