#include "runtime/protocol/monitor.h"

#include <cstdio>

#include "runtime/protocol/message.h"
#include "runtime/protocol/socket.h"

namespace wm::runtime {

// Long enough for a daemon on an overloaded host.
constexpr int kTimeout = 30'000;  // milliseconds

Result<std::string> request_status(const std::string& socket) {
  auto connection = connect_to(socket);
  if (!connection) return Error{"no daemon answers at " + socket + " (start one with: wm serve)"};
  Hello hello;
  hello.role = Role::monitor;
  std::snprintf(hello.name, sizeof hello.name, "wm");
  if (!send_packet(*connection, {reinterpret_cast<const std::byte*>(&hello), sizeof hello})) {
    return Error{socket + ": the daemon closed the connection"};
  }
  std::string text;
  for (;;) {
    const auto packet = receive_packet(*connection, kTimeout, 64 * 1024);
    if (!packet) return Error{socket + ": the daemon does not answer"};
    if (packet->bytes.empty()) break;
    text.append(reinterpret_cast<const char*>(packet->bytes.data()), packet->bytes.size());
  }
  if (!text.starts_with('{')) return Error{socket + ": the daemon refused the request"};
  return text;
}

}  // namespace wm::runtime
