#include "runtime/server/server.h"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include "runtime/device/device_limits.h"
#include "runtime/server/loopback.h"

namespace wm::runtime {
namespace {

template <Plain T>
std::span<const std::byte> bytes_of(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

void refuse(const Descriptor& socket, const std::string& why) {
  Welcome welcome;
  std::snprintf(welcome.reason, sizeof welcome.reason, "%s", why.c_str());
  send_packet(socket, bytes_of(welcome));
}

// A document in packets; the monitor reads until we hang up.
void send_text(const Descriptor& socket, const std::string& text) {
  constexpr std::size_t kPart = 16 * 1024;
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t at = 0; at < bytes.size(); at += kPart) {
    if (!send_packet(socket, bytes.subspan(at, std::min(kPart, bytes.size() - at)))) return;
  }
}

}  // namespace

Server::Server(ServeOptions options, std::unique_ptr<Native> native)
    : options_(std::move(options)), native_(std::move(native)) {}

Result<std::unique_ptr<Server>> Server::open(const ServeOptions& options) {
  const bool fifo = options.policy == "fifo";
  const auto choice = policy::choose(fifo ? "left_over" : options.policy);
  if (!choice) return choice.error();
  auto policy = policy::make(*choice, DeviceMachine::capabilities(), "device");
  if (!policy) return policy.error();
  // Before the device, which takes seconds to open.
  auto listener = listen_at(options.socket, options.mode);
  if (!listener) return listener.error();
  // Where our own driver is registered for all applications, it must not offer this daemon to itself.
  ::setenv("WARPMUX_DISABLE", "1", 1);
  auto native = Native::open({options.device});
  if (!native) {
    ::unlink(options.socket.c_str());
    return native.error();
  }
  std::unique_ptr<Server> server(new Server(options, std::move(*native)));
  server->listener_ = std::move(*listener);
  server->policy_ = fifo ? "fifo" : choice->to_string();
  if (options.metrics_port != 0) {
    auto metrics = listen_on_loopback(options.metrics_port);
    if (!metrics) return metrics.error();
    server->metrics_listener_ = std::move(*metrics);
  }
  const auto has = server->native_->fact<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE);
  const std::uint64_t total = options.memory != 0 ? options.memory : has;
  server->limits_ =
      std::make_unique<MemoryLimits>(total, options.client_memory != 0 ? options.client_memory : total,
                                     options.wait_for_memory, options.memory == 0 && options.client_memory == 0);
  if (options.rewrite && !fifo) {
    server->rewriter_ = std::make_unique<rewrite::Rewriter>(rewrite::RewriterOptions{
        .worker = rewrite::find_worker(),
        .cache_folder = options.cache.empty() ? rewrite::default_cache_folder() : options.cache});
  }
  if (server->rewriter_) {
    server->warming_ = std::async(std::launch::async, [r = server->rewriter_.get()] { r->warm_up(); });
  }
  // The C library would raise this bound by itself, as large blocks are freed.
  if (server->native_->in_host_memory()) ::mallopt(M_MMAP_THRESHOLD, kFreshBytes);
  server->try_driver();
  server->native_->try_compiler();
  server->forms_ = std::make_unique<WorkerPrograms>(*server->native_, server->census_, server->compilers_,
                                                    server->rewriter_.get(), *server->sandbox_);
  server->precompilation_ =
      std::make_unique<Precompilation>(*server->native_, *server->forms_, server->compilers_, *server->sandbox_);
  server->scheduler_ = std::make_unique<Scheduler>(*server->native_, server->census_, device_limits(*server->native_),
                                                   std::move(*policy), fifo, options.short_launch * 1000.0);
  return server;
}

void Server::try_driver() {
  sandbox::SandboxOptions how;
  if (options_.trial_seconds != 0) {
    how.program = sandbox::find_sandbox();
    if (how.program.empty())
      std::fputs("wm: no wm-sandbox here: what crashes the device's compiler ends this daemon\n", stderr);
  }
  how.device = options_.device;
  how.driver = fmt::format("{} {} {} {}", native_->platform_name(), native_->text(CL_DEVICE_NAME),
                           native_->text(CL_DRIVER_VERSION), native_->text(CL_DEVICE_VERSION));
  const std::string cache = options_.cache.empty() ? rewrite::default_cache_folder() : options_.cache;
  if (!cache.empty()) how.folder = cache + "/tried";
  how.limit = std::chrono::seconds(options_.trial_seconds);
  sandbox_ = std::make_unique<sandbox::Sandbox>(how);
  asking_ = std::async(std::launch::async, [this] { return sandbox_->answers(); });
}

bool Server::drain(double seconds) {
  for (Connection& c : connections_) let_go(c);
  connections_.clear();
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const auto busy = [this] {
    leaving_.remove_if([](auto& l) { return l.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    return census_.events != 0 || !leaving_.empty();
  };
  while (busy()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

Server::~Server() {
  for (Connection& c : connections_) {
    if (c.session) c.session->close();
  }
  connections_.clear();
  leaving_.clear();
  if (listener_.open()) ::unlink(options_.socket.c_str());
}

std::string Server::about() const {
  return fmt::format("{}: {}, policy {}", native_->platform_name(), native_->text(CL_DEVICE_NAME), policy_);
}

bool Server::device_failed() {
  if (pulse_.valid()) {
    // Behind a kernel that does not end it may take for ever; that is no failure.
    return pulse_.wait_for(std::chrono::seconds(0)) == std::future_status::ready && !pulse_.get();
  }
  if (!scheduler_->take_doubt()) return false;
  pulse_ = std::async(std::launch::async, [this] {
    constexpr int kTries = 3;
    for (int i = 0; i < kTries; ++i) {
      if (native_->lives()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return false;
  });
  return false;
}

bool Server::run(int stop) {
  for (;;) {
    std::vector<pollfd> watched{{stop, POLLIN, 0}, {listener_.get(), POLLIN, 0}, {metrics_listener_.get(), POLLIN, 0}};
    for (const Connection& c : connections_) watched.push_back({c.socket.get(), POLLIN | POLLRDHUP, 0});
    ::poll(watched.data(), watched.size(), 200);
    if (watched[0].revents != 0) return true;
    if (device_failed()) return false;
    std::size_t i = 3;
    for (auto it = connections_.begin(); it != connections_.end(); ++i) {
      const bool news = watched[i].revents != 0;
      const bool ended = it->session && it->session->finished();
      if (ended || (news && hear(*it))) {
        let_go(*it);
        it = connections_.erase(it);
      } else {
        ++it;
      }
    }
    if (watched[1].revents != 0) {
      if (auto socket = accept_from(listener_)) connections_.push_back({std::move(*socket), nullptr});
    }
    if (watched[2].revents != 0) answer_metrics();
    report_orphaned_kernels();
    leaving_.remove_if([](auto& l) { return l.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  }
}

bool Server::hear(Connection& connection) {
  if (!connection.session) {
    greet(connection);
    return !connection.session;
  }
  if (peer_closed(connection.socket)) return true;
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
  constexpr std::uint64_t kLargestRegion = std::uint64_t{1} << 36;
  if (request.size != 0 && request.size <= kLargestRegion) {
    answer.region = connection.session->add_region(request.size, file);
  }
  if (send_packet(connection.socket, bytes_of(answer), file)) return false;
  connection.session->cut("does not read its answers");
  return true;
}

void Server::greet(Connection& connection) {
  const auto packet = receive_packet(connection.socket, 0);
  Hello hello;
  if (!packet || packet->bytes.size() != sizeof hello) return refuse(connection.socket, "not a hello of this version");
  std::memcpy(&hello, packet->bytes.data(), sizeof hello);
  if (hello.magic != kMagic || hello.version != kVersion) {
    return refuse(connection.socket, fmt::format("this daemon speaks version {} of the protocol", kVersion));
  }
  const auto peer = peer_of(connection.socket);
  if (!peer) return refuse(connection.socket, peer.error().what);
  // Where only the owner may connect, only the owner and root do, whatever became of the file's mode.
  const bool stranger = peer->uid != ::geteuid() && peer->uid != 0;
  if (stranger && (options_.mode & 0066) == 0)
    return refuse(connection.socket, "only the daemon's own user may connect");
  if (hello.role == Role::monitor) return send_text(connection.socket, status());
  hello.name[sizeof hello.name - 1] = 0;
  Descriptor file;
  auto session =
      Session::make({*native_, census_, *limits_, *scheduler_, *forms_, *precompilation_, compilers_, *sandbox_},
                    {*peer, hello.name, ++clients_}, hello, file);
  if (!session) return refuse(connection.socket, session.error().what);
  Welcome welcome;
  welcome.accepted = 1;
  welcome.host_memory = native_->in_host_memory() ? 1 : 0;
  if (asking_.valid()) answers_ = asking_.get();
  welcome.native_results = answers_;
  if (!send_packet(connection.socket, bytes_of(welcome), file)) return;
  (*session)->start();
  connection.session = std::move(*session);
}

void Server::let_go(Connection& connection) {
  if (!connection.session) return;
  if (const std::string why = connection.session->cut_off(); !why.empty()) {
    constexpr std::size_t kRemembered = 16;
    ++cut_off_;
    cut_offs_.push_back({connection.session->who(), why});
    if (cut_offs_.size() > kRemembered) cut_offs_.pop_front();
  }
  // Its compilations may have to end first; nobody else waits for that.
  leaving_.push_back(std::async(std::launch::async, [session = std::move(connection.session)] { session->close(); }));
}

void Server::report_orphaned_kernels() {
  constexpr std::uint64_t kLong = 1'000'000'000;
  for (const auto& l : scheduler_->orphaned_kernels()) {
    const Session::Who& who = l.client->who();
    if (l.gone < kLong || !reported_.insert(who.number).second) continue;
    std::fprintf(stderr, "wm: client %llu (%s, pid %d) has gone, but its kernel %s runs on: %s\n",
                 static_cast<unsigned long long>(who.number), who.name.c_str(), who.peer.pid, l.kernel.c_str(),
                 "a group cannot be taken from the device");
  }
}

void Server::answer_metrics() { serve_metrics(metrics_listener_, metrics()); }

}  // namespace wm::runtime
