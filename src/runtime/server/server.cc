#include "runtime/server/server.h"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include "policy/logged_policy.h"
#include "runtime/protocol/program_name.h"
#include "runtime/schedule/device_defaults.h"
#include "runtime/server/access.h"
#include "runtime/server/log.h"
#include "runtime/server/loopback.h"

namespace wm::runtime {
namespace {

constexpr std::uint64_t kMaxRegionBytes = std::uint64_t{1} << 36;

void refuse(const Descriptor& socket, const std::string& reason) {
  Welcome welcome;
  std::snprintf(welcome.reason, sizeof welcome.reason, "%s", reason.c_str());
  send_packet(socket, bytes_of(welcome));
}

// Sends a document in packets; the monitor reads until the connection is closed.
void send_text(const Descriptor& socket, const std::string& text) {
  constexpr std::size_t kPacketBytes = 16 * 1024;
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t at = 0; at < bytes.size(); at += kPacketBytes) {
    if (!send_packet(socket, bytes.subspan(at, std::min(kPacketBytes, bytes.size() - at)))) return;
  }
}

}  // namespace

Server::Server(ServeOptions options, std::unique_ptr<Backend> backend, std::unique_ptr<policy::Policy> policy,
               std::string policy_name)
    : options_(std::move(options)),
      daemon_(options_, std::move(backend), std::move(policy), std::move(policy_name)),
      device_monitor_(daemon_.backend(), daemon_.scheduler()),
      control_(daemon_, clients_, options_.user_shares) {}

Result<std::unique_ptr<Server>> Server::open(const ServeOptions& options) {
  return open(options, [&] { return open_backend(options.device); });
}

Result<std::unique_ptr<Server>> Server::open(const ServeOptions& options, const OpenDevice& open_device) {
  const bool fifo = options.policy == "fifo";
  auto choice = policy::choose(fifo ? "left_over" : options.policy);
  if (!choice) return choice.error();
  // Listens before opening the device, which takes seconds.
  auto listener = listen_at(options.socket, options.mode);
  if (!listener) return listener.error();
  // If our client library is registered for all applications, it must not offer this daemon to itself.
  ::setenv("WARPMUX_DISABLE", "1", 1);
  auto backend = open_device();
  if (!backend) {
    ::unlink(options.socket.c_str());
    return backend.error();
  }
  const bool real_sms = needs_real_sms(choice->entry->info, (*backend)->capabilities());
  if (real_sms) choice = choose_for_device(options.policy);
  auto policy = policy::make(*choice, machine_capabilities(real_sms), "device");
  if (!policy) {
    ::unlink(options.socket.c_str());
    return policy.error();
  }
  *policy = policy::with_decisions_in(options.decisions_file, std::move(*policy), *choice);
  Descriptor metrics_listener;
  if (options.metrics_port != 0) {
    auto metrics = listen_on_loopback(options.metrics_port);
    if (!metrics) {
      ::unlink(options.socket.c_str());
      return metrics.error();
    }
    metrics_listener = std::move(*metrics);
  }
  std::unique_ptr<Server> server(
      new Server(options, std::move(*backend), std::move(*policy), fifo ? "fifo" : choice->to_string()));
  server->listener_ = std::move(*listener);
  server->metrics_listener_ = std::move(metrics_listener);
  return server;
}

Server::~Server() {
  clients_.shut_down();
  if (listener_.open()) ::unlink(options_.socket.c_str());
}

bool Server::drain(double seconds) {
  clients_.close_all();
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (clients_.closing() != 0 || daemon_.counts().events != 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::string Server::about() {
  std::string text = fmt::format("{}: {}, policy {}", daemon_.backend().platform_name(),
                                 daemon_.backend().device_name(), daemon_.policy_name());
  for (const std::string& rule : daemon_.scheduler().admission_rules()) text += "\nadmission rule " + rule;
  return text;
}

bool Server::run(int stop) {
  for (;;) {
    auto& connections = clients_.connections();
    std::vector<pollfd> watched{{stop, POLLIN, 0}, {listener_.get(), POLLIN, 0}, {metrics_listener_.get(), POLLIN, 0}};
    for (const ClientConnection& c : connections) watched.push_back({c.socket.get(), POLLIN | POLLRDHUP, 0});
    ::poll(watched.data(), watched.size(), 200);
    if (watched[0].revents != 0) return true;
    if (device_monitor_.device_failed()) return false;
    std::size_t i = 3;
    for (auto it = connections.begin(); it != connections.end(); ++i) {
      const bool readable = watched[i].revents != 0;
      const bool ended = it->session && it->session->finished();
      if (ended || (readable && handle_socket(*it))) {
        if (it->session) note_leaving(*it->session);
        clients_.close(*it);
        it = connections.erase(it);
      } else {
        ++it;
      }
    }
    if (watched[1].revents != 0) {
      if (auto socket = accept_from(listener_)) connections.push_back({std::move(*socket), nullptr});
    }
    if (watched[2].revents != 0) serve_http(metrics_listener_, [this](const std::string& path) { return page(path); });
    report_orphaned_kernels();
    // Compilers and sessions leave freed memory in the allocator, which goes back to the system while no client waits
    // for the daemon.
    if (clients_.all_have_left()) ::malloc_trim(0);
  }
}

bool Server::handle_socket(ClientConnection& connection) {
  if (!connection.session) {
    greet(connection);
    return !connection.session;
  }
  return peer_closed(connection.socket) || handle_region_request(connection);
}

bool Server::handle_region_request(ClientConnection& connection) {
  const auto packet = receive_packet(connection.socket, 0);
  if (!packet) return false;
  RegionRequest request;
  if (packet->bytes.size() != sizeof request) {
    connection.session->cut("broke the protocol");
    return true;
  }
  std::memcpy(&request, packet->bytes.data(), sizeof request);
  Descriptor file;
  RegionAnswer answer;
  if (request.size != 0 && request.size <= kMaxRegionBytes) {
    answer.region = connection.session->add_region(request.size, file);
  }
  if (send_packet(connection.socket, bytes_of(answer), file)) return false;
  connection.session->cut("does not read its answers");
  return true;
}

void Server::greet(ClientConnection& connection) {
  const auto packet = receive_packet(connection.socket, 0);
  Hello hello;
  if (!packet || packet->bytes.size() != sizeof hello) return refuse(connection.socket, "not a hello of this version");
  std::memcpy(&hello, packet->bytes.data(), sizeof hello);
  if (hello.magic != kMagic || hello.version != kVersion) {
    return refuse(connection.socket, fmt::format("this daemon speaks version {} of the protocol", kVersion));
  }
  const auto peer = peer_of(connection.socket);
  if (!peer) return refuse(connection.socket, peer.error().what);
  if (!may_connect(peer->uid, ::geteuid(), options_.mode)) {
    return refuse(connection.socket, "only the daemon's own user may connect");
  }
  if (hello.role == Role::monitor) {
    log::write(log::Level::debug, "status_requested",
               {{"pid", std::int64_t{peer->pid}}, {"user", user_name(peer->uid)}});
    return send_text(connection.socket, status());
  }
  if (hello.role == Role::controller) return control(connection.socket, *peer);
  if (hello.role == Role::simulated) return;  // the client finds no daemon of a simulated GPU
  Descriptor file;
  auto session = Session::make(daemon_.context(),
                               {*peer, program_name(hello), clients_.next_number(), control_.default_share(peer->uid)},
                               hello, file);
  if (!session) return refuse(connection.socket, session.error().what);
  Welcome welcome;
  welcome.accepted = 1;
  welcome.host_memory = daemon_.backend().capabilities().buffers_in_host_memory ? 1 : 0;
  welcome.native_results = daemon_.native_results();
  if (!send_packet(connection.socket, bytes_of(welcome), file)) return;
  (*session)->start();
  connection.session = std::move(*session);
  const Session::ClientInfo& info = connection.session->info();
  log::write(log::Level::info, "client_connected",
             {{"client", static_cast<std::int64_t>(info.number)},
              {"program", info.name},
              {"pid", std::int64_t{info.peer.pid}},
              {"user", user_name(info.peer.uid)}});
}

void Server::control(const Descriptor& socket, const Peer& peer) {
  constexpr int kTimeout = 200;  // milliseconds; the request follows the greeting
  const auto packet = receive_packet(socket, kTimeout, 64 * 1024);
  if (!packet) return;
  if (!may_control(peer.uid, ::geteuid())) {
    return send_text(socket, R"({"error":"only the daemon's own user and root may change it"})");
  }
  const std::string request(reinterpret_cast<const char*>(packet->bytes.data()), packet->bytes.size());
  const std::string answer = control_.answer(request);
  log::write(log::Level::info, "control", {{"user", user_name(peer.uid)}, {"request", request}, {"answer", answer}});
  send_text(socket, answer);
}

std::optional<std::string> Server::page(const std::string& path) {
  log::write(log::Level::debug, "page_requested", {{"path", path}});
  if (path == "/" || path == "/metrics") return metrics();
  if (path == "/healthz") return "ok\n";
  return std::nullopt;
}

void Server::note_leaving(const Session& session) {
  const ClientStatistics statistics = daemon_.scheduler().statistics(session);
  const Session::ClientInfo& info = session.info();
  gone_[user_name(info.peer.uid)].add(statistics);
  const std::string reason = session.cut_off();
  log::write(reason.empty() ? log::Level::info : log::Level::warning, "client_gone",
             {{"client", static_cast<std::int64_t>(info.number)},
              {"program", info.name},
              {"launches", static_cast<std::int64_t>(statistics.launches)},
              {"queued_workers", static_cast<std::int64_t>(statistics.queued_workers)},
              {"repeated_workers", static_cast<std::int64_t>(statistics.repeated_workers)},
              {"device_seconds", static_cast<double>(statistics.device_nanoseconds) * 1e-9},
              {"reason", reason.empty() ? "disconnected" : reason}});
}

void Server::report_orphaned_kernels() {
  constexpr std::uint64_t kMinNanoseconds = 1'000'000'000;
  for (const auto& kernel : daemon_.scheduler().orphaned_kernels()) {
    const Client::Identity client = kernel.client->identity();
    if (kernel.client_gone_nanoseconds < kMinNanoseconds || !reported_.insert(client.number).second) continue;
    log::write(log::Level::warning, "orphaned_kernel",
               {{"client", static_cast<std::int64_t>(client.number)},
                {"program", client.name},
                {"pid", std::int64_t{client.pid}},
                {"kernel", kernel.kernel},
                {"detail", "the client has gone, and the device cannot stop a group that has started"}});
  }
}

StatusSource Server::source() {
  const std::chrono::duration<double> age = std::chrono::steady_clock::now() - since_;
  return {options_.socket, age.count(), daemon_, clients_};
}

}  // namespace wm::runtime
