// The Unix socket on which clients and the daemon meet: whole packets, descriptors, and who the other side is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "runtime/protocol/descriptor.h"

namespace wm::runtime {

// $WARPMUX_SOCKET, else warpmux.sock in $XDG_RUNTIME_DIR, else in /run/warpmux where that is there, else in /tmp with
// the user's number.
std::string default_socket();

// Takes the place of a socket nobody listens on; an error where a daemon does. `mode` as in 0600.
Result<Descriptor> listen_at(const std::string& path, unsigned mode);
Result<Descriptor> connect_to(const std::string& path);
// Nothing when no one is waiting.
std::optional<Descriptor> accept_from(const Descriptor& listener);

struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};
Result<Peer> peer_of(const Descriptor& socket);

// One packet, with a descriptor where `file` is open. Never raises SIGPIPE.
bool send_packet(const Descriptor& socket, std::span<const std::byte> bytes, const Descriptor& file = {});
struct Packet {
  std::vector<std::byte> bytes;
  Descriptor file;
};
// Waits up to `milliseconds`; nothing when there was none by then, an empty packet when the other side is gone.
std::optional<Packet> receive_packet(const Descriptor& socket, int milliseconds, std::size_t most = 4096);

// Whether the other side has hung up.
bool gone(const Descriptor& socket);

}  // namespace wm::runtime
