#include "runtime/protocol/monitor.h"

#include <cstdio>

#include "runtime/protocol/message.h"
#include "runtime/protocol/socket.h"

namespace wm::runtime {

// Long enough for a daemon on an overloaded host.
constexpr int kTimeout = 30'000;  // milliseconds

namespace {

Result<std::string> exchange(const std::string& socket, Role role, const std::string& request) {
  auto connection = connect_to(socket);
  if (!connection)
    return Error{"no daemon answers at " + socket + " (start one with: wm serve --socket " + socket + ")"};
  Hello hello;
  hello.role = role;
  std::snprintf(hello.name, sizeof hello.name, "wm");
  bool sent = send_packet(*connection, {reinterpret_cast<const std::byte*>(&hello), sizeof hello});
  if (!request.empty()) {
    sent = sent && send_packet(*connection, {reinterpret_cast<const std::byte*>(request.data()), request.size()});
  }
  if (!sent) return Error{socket + ": the daemon closed the connection"};
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

}  // namespace

Result<std::string> request_status(const std::string& socket) { return exchange(socket, Role::monitor, ""); }

Result<std::string> request_control(const std::string& socket, const std::string& request) {
  return exchange(socket, Role::controller, request);
}

}  // namespace wm::runtime
