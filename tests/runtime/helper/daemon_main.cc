// A daemon for tests: `wm serve` without the rest of wm. Arguments: the socket, the policy, and optionally the bytes
// that a client may allocate. Prints "ready" when clients may connect.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include "runtime/server/server.h"

int main(int count, char** words) {
  if (count < 3) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no daemon outlives its test
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const wm::runtime::Descriptor stop(::signalfd(-1, &signals, SFD_CLOEXEC));
  wm::runtime::ServeOptions options;
  options.socket = words[1];
  options.policy = words[2];
  if (count > 3) options.client_memory = std::strtoull(words[3], nullptr, 10);
  auto server = wm::runtime::Server::open(options);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().to_string().c_str());
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  if (!(*server)->run(stop.get())) std::_Exit(4);
  if (!(*server)->drain(10)) std::_Exit(3);
  return 0;
}
