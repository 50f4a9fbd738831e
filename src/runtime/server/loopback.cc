#include "runtime/server/loopback.h"

#include <algorithm>
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

std::string path_of(std::string_view request) {
  if (!request.starts_with("GET ") && !request.starts_with("HEAD ")) return request.empty() ? "/metrics" : "";
  request.remove_prefix(request.find(' ') + 1);
  return std::string(request.substr(0, request.find_first_of(" ?\r\n")));
}

void serve_http(const Descriptor& listener, const std::function<std::optional<std::string>(const std::string&)>& page) {
  const Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.open()) return;
  // A client that sends nothing gets the metrics after this time.
  pollfd watched{socket.get(), POLLIN, 0};
  char request[4096];
  ssize_t size = 0;
  if (::poll(&watched, 1, 100) > 0) size = ::recv(socket.get(), request, sizeof request, 0);
  const std::string_view received(request, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const auto text = page(path_of(received));
  const std::string body = text.value_or("not found\n");
  const std::string answer = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      text ? "200 OK" : "404 Not Found", body.size(), received.starts_with("HEAD ") ? "" : body);
  (void)::send(socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace wm::runtime
