// The Unix socket between clients and the daemon: packets, file descriptors and the identity of the peer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "runtime/protocol/descriptor.h"
#include "runtime/protocol/message.h"

namespace wm::runtime {

// $WARPMUX_SOCKET; else warpmux.sock in $XDG_RUNTIME_DIR; else in /run/warpmux if that exists; else in /tmp, with the
// user id in its name.
std::string default_socket();

// Replaces a socket file that no process listens on; an error if a daemon does. `mode` is the file mode, such as 0600.
Result<Descriptor> listen_at(const std::string& path, unsigned mode);
Result<Descriptor> connect_to(const std::string& path);
// The next waiting connection; nothing if there is none.
std::optional<Descriptor> accept_from(const Descriptor& listener);

struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};
Result<Peer> peer_of(const Descriptor& socket);
// The name of a user, or its number where it has none.
[[nodiscard]] std::string user_name(uid_t uid);
// Whether such a user is known by name; a number stands for one without a name.
[[nodiscard]] bool is_user(const std::string& user);

template <Plain T>
std::span<const std::byte> bytes_of(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}
// Sends one packet, with the descriptor of `file` if it is open. Never raises SIGPIPE.
bool send_packet(const Descriptor& socket, std::span<const std::byte> bytes, const Descriptor& file = {});
struct Packet {
  std::vector<std::byte> bytes;
  Descriptor file;
};
// Waits up to `milliseconds`; nothing after that time, an empty packet when the peer has closed the connection.
std::optional<Packet> receive_packet(const Descriptor& socket, int milliseconds, std::size_t max_bytes = 4096);

// Whether the peer has closed the connection.
bool peer_closed(const Descriptor& socket);

}  // namespace wm::runtime
