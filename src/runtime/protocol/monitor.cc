#include "runtime/protocol/monitor.h"

#include <cstdio>

#include "runtime/protocol/message.h"
#include "runtime/protocol/socket.h"

namespace wm::runtime {

// A host with more to do than it can is not a daemon that has gone.
constexpr int kPatience = 30'000;  // milliseconds

Result<std::string> ask_status(const std::string& socket) {
  auto link = connect_to(socket);
  if (!link) return Error{"no daemon answers at " + socket + " (start one with: wm serve)"};
  Hello hello;
  hello.role = Role::monitor;
  std::snprintf(hello.name, sizeof hello.name, "wm");
  if (!send_packet(*link, {reinterpret_cast<const std::byte*>(&hello), sizeof hello})) {
    return Error{socket + ": the daemon hung up"};
  }
  std::string text;
  for (;;) {
    const auto packet = receive_packet(*link, kPatience, 64 * 1024);
    if (!packet) return Error{socket + ": the daemon does not answer"};
    if (packet->bytes.empty()) break;
    text.append(reinterpret_cast<const char*>(packet->bytes.data()), packet->bytes.size());
  }
  if (!text.starts_with('{')) return Error{socket + ": the daemon refused to say"};
  return text;
}

}  // namespace wm::runtime
