// Whether a thread of this process sleeps: tests wait until it does.
#pragma once

#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/types.h>
#include <thread>
#include <unistd.h>

namespace wm::runtime::test {

inline bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
}

inline void wait_until_asleep(pid_t thread) {
  while (!is_asleep(thread)) std::this_thread::yield();
}

// Runs `body` in a thread, and returns when the thread sleeps in it.
template <typename Body>
std::thread sleeping_thread(Body body) {
  std::atomic<pid_t> id{0};
  std::thread thread([&id, body] {
    id = ::gettid();
    body();
  });
  while (id == 0) std::this_thread::yield();
  wait_until_asleep(id);
  return thread;
}

}  // namespace wm::runtime::test
