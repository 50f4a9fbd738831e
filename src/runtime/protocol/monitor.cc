#include "runtime/protocol/monitor.h"

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "runtime/protocol/message.h"
#include "runtime/protocol/socket.h"

namespace wm::runtime {

// Long enough for a daemon on an overloaded host.
constexpr int kTimeout = 30'000;  // milliseconds

namespace {

// Why the daemon sent a welcome instead of a document. A welcome begins with magic and version in every version.
Error refusal(const std::string& socket, const std::string& answer) {
  std::uint32_t beginning[2] = {};
  if (answer.size() >= sizeof beginning) std::memcpy(beginning, answer.data(), sizeof beginning);
  const auto [magic, version] = beginning;
  if (magic == kMagic && version != kVersion) {
    return Error{socket + ": the daemon is of another version of warpmux (protocol " + std::to_string(version) +
                 ", this program " + std::to_string(kVersion) + "): restart it with this program's wm serve"};
  }
  if (magic != kMagic || answer.size() != sizeof(Welcome)) return Error{socket + ": the daemon refused the request"};
  return Error{socket + ": " + (answer.c_str() + offsetof(Welcome, reason))};
}

Result<std::string> exchange(const std::string& socket, Role role, const std::string& request, bool& is_refused) {
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
  is_refused = !text.empty() && text[0] != '{';
  if (is_refused) return refusal(socket, text);
  if (text.empty()) return Error{socket + ": the daemon closed the connection"};
  return text;
}

}  // namespace

Result<std::string> request_status(const std::string& socket, bool* is_refused) {
  bool refused = false;
  auto status = exchange(socket, Role::monitor, "", refused);
  if (is_refused != nullptr) *is_refused = refused;
  return status;
}

Result<std::string> request_control(const std::string& socket, const std::string& request) {
  bool refused = false;
  return exchange(socket, Role::controller, request, refused);
}

}  // namespace wm::runtime
