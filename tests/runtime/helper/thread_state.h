// Whether a thread of this process sleeps: tests wait until it does.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <sys/types.h>
#include <thread>

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

}  // namespace wm::runtime::test
