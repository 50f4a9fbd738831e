// wm-sandbox: the device's driver in a process of its own. Reads requests on stdin, writes what the driver said on
// stdout, a frame each, until stdin ends. What ends it would have ended the daemon.
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
#include "runtime/sandbox/answer.h"

namespace {

using namespace wm::runtime;

// Gone with the daemon, whatever the driver is busy with.
void leave_with_daemon() {
  pollfd daemon{STDIN_FILENO, POLLRDHUP, 0};
  while (::poll(&daemon, 1, -1) < 0) {
  }
  std::_Exit(0);
}

// On a stack that is a little smaller than those of the daemon's threads: what fits here fits there.
void on_own_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  std::size_t size = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &size);
  constexpr std::size_t kLess = 512 << 10;
  if (size > 2 * kLess) pthread_attr_setstacksize(&attributes, size - kLess);
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
  // Drivers print to stdout when they like; what we say goes where it went.
  std::FILE* const daemon = ::fdopen(::dup(STDOUT_FILENO), "w");
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::setenv("WARPMUX_DISABLE", "1", 1);
  std::thread(leave_with_daemon).detach();
  std::unique_ptr<Native> native;
  std::optional<sandbox::Answerer> answerer;
  while (const auto bytes = wm::rewrite::read_frame(stdin)) {
    const auto request = sandbox::decode(*bytes);
    if (request && !native) {
      if (auto opened = Native::open({request->device})) native = std::move(*opened);
      if (native) answerer.emplace(*native);
    }
    std::int32_t said = sandbox::kNoDevice;
    if (request && answerer) on_own_stack([&] { said = answerer->answer(*request); });
    const std::string reply(reinterpret_cast<const char*>(&said), sizeof said);
    if (!wm::rewrite::write_frame(daemon, reply)) return 1;
  }
  std::_Exit(0);  // drivers' own ends take their time, and nothing here is worth one
}
