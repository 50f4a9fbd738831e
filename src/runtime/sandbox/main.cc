// wm-sandbox: the device's driver in a process of its own. Reads requests from stdin and writes the driver's results to
// stdout, one frame each, until stdin ends. A driver that crashes ends this process instead of the daemon.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

#include "rewrite/frames.h"
#include "runtime/sandbox/comparison_runner.h"
#include "runtime/sandbox/empty_kernels.h"
#include "runtime/sandbox/request_runner.h"

namespace {

using namespace wm::runtime;

// Ends the process when the daemon has ended, even while the driver is busy.
void exit_with_daemon() {
  pollfd daemon{STDIN_FILENO, POLLRDHUP, 0};
  while (::poll(&daemon, 1, -1) < 0) {
  }
  std::_Exit(0);
}

// Runs work on a stack that is smaller than those of the daemon's threads, so that work which succeeds here does not
// overflow the stack there.
void run_on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  std::size_t size = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &size);
  constexpr std::size_t kReserve = 512 << 10;
  if (size > 2 * kReserve) pthread_attr_setstacksize(&attributes, size - kReserve);
  const auto start = [](void* data) -> void* {
    (*static_cast<const std::function<void()>*>(data))();
    return nullptr;
  };
  pthread_t thread{};
  if (pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&work)) != 0) std::_Exit(1);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}

}  // namespace

int main(int count, char**) {
  if (count > 1) {
    std::fputs("wm-sandbox: takes no arguments; it is started by wm serve\n", stderr);
    return 2;
  }
  // Drivers print to stdout, so the results go to a duplicate of it, and stdout becomes stderr.
  std::FILE* const daemon = ::fdopen(::dup(STDOUT_FILENO), "w");
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::setenv("WARPMUX_DISABLE", "1", 1);
  std::thread(exit_with_daemon).detach();
  std::unique_ptr<Native> native;
  std::optional<sandbox::RequestRunner> runner;
  while (const auto bytes = wm::rewrite::read_frame(stdin)) {
    const auto request = sandbox::decode(*bytes);
    if (request && request->kind == sandbox::Request::Kind::comparison) {
      const std::string result = sandbox::encode(sandbox::run_comparison(*request, sandbox::execute_kernels));
      if (!wm::rewrite::write_frame(daemon, result)) return 1;
      continue;
    }
    if (request && !native) {
      if (auto opened = Native::open({request->device})) native = std::move(*opened);
      if (native) runner.emplace(*native);
    }
    std::int32_t result = sandbox::kNoDevice;
    if (request && runner) run_on_small_stack([&] { result = runner->run(*request); });
    const std::string reply(reinterpret_cast<const char*>(&result), sizeof result);
    if (!wm::rewrite::write_frame(daemon, reply)) return 1;
  }
  std::_Exit(0);  // without the destructors of drivers, which take long
}
