#include "runtime/protocol/socket.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace wm::runtime {
namespace {

Error failed(const std::string& what) { return {what + ": " + std::strerror(errno)}; }

bool fill(sockaddr_un& address, const std::string& path) {
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

Descriptor new_socket() { return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

}  // namespace

std::string default_socket() {
  if (const char* path = std::getenv("WARPMUX_SOCKET"); path != nullptr && *path != 0) return path;
  if (const char* folder = std::getenv("XDG_RUNTIME_DIR"); folder != nullptr && *folder != 0) {
    return std::string(folder) + "/warpmux.sock";
  }
  struct stat facts {};
  if (::stat("/run/warpmux", &facts) == 0) return "/run/warpmux/warpmux.sock";
  return "/tmp/warpmux-" + std::to_string(::getuid()) + ".sock";
}

std::string user_name(uid_t uid) {
  const passwd* entry = ::getpwuid(uid);
  return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

bool is_user(const std::string& user) {
  if (user.empty()) return false;
  return ::getpwnam(user.c_str()) != nullptr || user.find_first_not_of("0123456789") == std::string::npos;
}

Result<Descriptor> connect_to(const std::string& path) {
  sockaddr_un address{};
  if (!fill(address, path)) return Error{"socket path '" + path + "' is empty or too long"};
  Descriptor socket = new_socket();
  if (!socket.open()) return failed("no socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return failed(path);
  return socket;
}

Result<Descriptor> listen_at(const std::string& path, unsigned mode) {
  sockaddr_un address{};
  if (!fill(address, path)) return Error{"socket path '" + path + "' is empty or too long"};
  if (connect_to(path).ok()) return Error{path + ": a daemon listens there already"};
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0) {
    if (!S_ISSOCK(facts.st_mode)) return Error{path + ": the file exists and is not a socket"};
    ::unlink(path.c_str());
  }
  Descriptor socket = new_socket();
  if (!socket.open()) return failed("no socket");
  // The mode is set before listen(), so no client can connect with the default mode.
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return failed(path);
  if (::chmod(path.c_str(), mode) != 0 || ::listen(socket.get(), 64) != 0) return failed(path);
  return socket;
}

std::optional<Descriptor> accept_from(const Descriptor& listener) {
  Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.open()) return std::nullopt;
  return socket;
}

Result<Peer> peer_of(const Descriptor& socket) {
  ucred facts{};
  socklen_t size = sizeof facts;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &facts, &size) != 0) return failed("the peer is unknown");
  return Peer{facts.pid, facts.uid};
}

bool send_packet(const Descriptor& socket, std::span<const std::byte> bytes, const Descriptor& file) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (file.open()) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = file.get();
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  // Does not block: a peer that never reads must not stop the daemon.
  return ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

std::optional<Packet> receive_packet(const Descriptor& socket, int milliseconds, std::size_t max_bytes) {
  pollfd watched{socket.get(), POLLIN, 0};
  if (::poll(&watched, 1, milliseconds) <= 0) return std::nullopt;
  Packet packet;
  packet.bytes.resize(max_bytes);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 4)] = {};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  packet.bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got < 0) return packet;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {  // one is expected; others are closed at once
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof fd);
      packet.file = Descriptor(fd);
    }
  }
  return packet;
}

bool peer_closed(const Descriptor& socket) {
  pollfd watched{socket.get(), POLLRDHUP, 0};
  return ::poll(&watched, 1, 0) > 0;  // nothing else is asked for
}

}  // namespace wm::runtime
