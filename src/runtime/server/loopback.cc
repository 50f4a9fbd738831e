#include "runtime/server/loopback.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace wm::runtime {

Result<Descriptor> listen_on_loopback(std::uint32_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 16) != 0) {
    return Error{fmt::format("port {} for metrics: {}", port, std::strerror(errno))};
  }
  return socket;
}

void serve_metrics(const Descriptor& listener, const std::string& page) {
  const Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.open()) return;
  // The request is read and ignored: there is one page. A client that sends no request is served after this time.
  pollfd watched{socket.get(), POLLIN, 0};
  char request[4096];
  if (::poll(&watched, 1, 100) > 0) (void)::recv(socket.get(), request, sizeof request, 0);
  const std::string answer = fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      page.size(), page);
  (void)::send(socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace wm::runtime
